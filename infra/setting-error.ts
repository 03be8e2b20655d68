/** A setting that the person who deploys has to change; the message says which, and how. */
export class SettingError extends Error {}
