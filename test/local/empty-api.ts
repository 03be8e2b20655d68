/** Resources that every template has: an API without any route. */
export const emptyApi = {
  Api: { Type: "AWS::ApiGateway::RestApi", Properties: { BinaryMediaTypes: ["*/*"] } },
  Stage: { Type: "AWS::ApiGateway::Stage", Properties: { StageName: "test" } },
};
