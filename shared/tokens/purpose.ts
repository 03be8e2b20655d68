/** Scopes that name a purpose of the W3C Data Privacy Vocabulary, as in `dpv:FraudPreventionAndDetection`. */
export const purposeForm = /^dpv:[A-Za-z][A-Za-z0-9]{0,127}$/;
