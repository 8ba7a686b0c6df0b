/** How sections are indexed, and how the page asks the index: both sides must agree. */
export const SEARCH = {
  fields: ['title', 'page', 'text'],
  storeFields: ['title', 'page', 'text'],
  searchOptions: {
    boost: { title: 4, page: 3 },
    combineWith: 'AND',
    prefix: true,
    fuzzy: (term) => (term.length > 4 ? 0.2 : false),
  },
};
