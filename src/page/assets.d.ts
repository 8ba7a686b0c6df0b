/** Styles are bundled into one file: importing one only says that it belongs to the page. */
declare module '*.css' {}
