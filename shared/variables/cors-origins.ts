/** The origins whose pages may use the API, as a regular expression; empty for none. */
export const CORS_ORIGINS = {
  name: "CORS_ORIGINS",
  format: () => ({ read: (text: string) => text, must: "be text" }),
};
