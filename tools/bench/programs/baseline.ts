/** The comparison for functions: a bundle of `@aws-sdk/client-dynamodb` and nothing else. */
export * from "@aws-sdk/client-dynamodb";
