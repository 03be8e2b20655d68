/** A setting that whoever deploys has to change; the message says which, and how. */
export class SettingError extends Error {}
