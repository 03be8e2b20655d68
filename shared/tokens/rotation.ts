/**
 * The steps of a rotation, in the order in which Secrets Manager calls them.
 * https://docs.aws.amazon.com/secretsmanager/latest/userguide/rotate-secrets_lambda-functions.html
 */
export const rotationSteps = ["createSecret", "setSecret", "testSecret", "finishSecret"] as const;

/** A signing key is replaced so often; the first one is made at once. */
export const rotationDays = 30;
