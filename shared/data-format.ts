/**
 * The form in which this release writes items and messages: another number with the first release that writes one of
 * them in another form. The outputs of a stage say it, and `ncs` writes into no stage of another form, whose functions
 * may not be able to read it.
 */
export const dataFormat = 1;
