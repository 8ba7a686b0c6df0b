/** The version of `fact.recorded` that holds only the facts that do not follow from its outcome. */
export const FOLLOWING_FACTS = 2;
