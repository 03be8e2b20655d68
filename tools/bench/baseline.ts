/** What the functions are compared with: a bundle of `@aws-sdk/client-dynamodb` and nothing else. */
export * from "@aws-sdk/client-dynamodb";
