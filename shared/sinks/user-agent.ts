/** Who sends a request to an address of a stranger: some firewalls refuse one without. The version of `package.json`. */
export const userAgent = "network-capabilities-service/0.2.0";
