/**
 * Mock integrations: responses of API Gateway without a backend.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/how-to-mock-integration.html
 */
import * as z from "zod";

/**
 * The API treats all media types as binary: templates read and write text only if the integration says so.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-payload-encodings-workflow.html
 */
const asText = z.literal("CONVERT_TO_TEXT");

/** The integration of a method, as in the template. */
export const mockSchema = z.strictObject({
  Type: z.literal("MOCK"),
  ContentHandling: asText,
  // With any other value, a body without a template would be taken for the one that sets the status.
  PassthroughBehavior: z.literal("NEVER"),
  RequestTemplates: z.record(z.string(), z.string()),
  IntegrationResponses: z.array(
    z.strictObject({
      StatusCode: z.coerce.number().int(),
      SelectionPattern: z.string(),
      ContentHandling: asText,
      ResponseParameters: z.record(z.string(), z.string()).default({}),
      ResponseTemplates: z.strictObject({ "application/json": z.string() }),
    }),
  ),
});

/** A response that a method declares. */
export const methodResponseSchema = z.strictObject({
  StatusCode: z.coerce.number().int(),
  ResponseParameters: z.record(z.string(), z.unknown()).default({}),
});

/** One response of a mock integration. */
interface MockResponse {
  readonly status: number;
  /** Matches the status that the request template sets. */
  readonly pattern: RegExp;
  /** Literal values, or `context.` and the name of a variable. */
  readonly headers: Readonly<Record<string, string>>;
  readonly template: string;
}

/** The mapping templates of the request, by media type, and of each response. */
export interface MockIntegration {
  readonly requestTemplates: Readonly<Record<string, string>>;
  readonly responses: readonly MockResponse[];
}

/**
 * @throws {Error} naming a response or a header that the method does not declare: such a template cannot be deployed.
 */
export function mockIntegration(
  logicalId: string,
  { RequestTemplates, IntegrationResponses }: z.output<typeof mockSchema>,
  declared: readonly z.output<typeof methodResponseSchema>[],
): MockIntegration {
  return {
    requestTemplates: RequestTemplates,
    responses: IntegrationResponses.map((response) => {
      const { StatusCode, SelectionPattern, ResponseParameters, ResponseTemplates } = response;
      const ofMethod = declared.find((one) => one.StatusCode === StatusCode);
      if (ofMethod === undefined) throw new Error(`${logicalId} declares no response ${StatusCode}`);
      const undeclared = Object.keys(ResponseParameters).find(
        (name) => !(name in ofMethod.ResponseParameters),
      );
      if (undeclared !== undefined) throw new Error(`${logicalId} does not declare ${undeclared}`);
      const headers = Object.entries(ResponseParameters).map(([name, value]) => [
        name.replace(/^method\.response\.header\./, ""),
        value,
      ]);
      return {
        status: StatusCode,
        pattern: new RegExp(`^(?:${SelectionPattern})$`),
        headers: Object.fromEntries(headers),
        template: ResponseTemplates["application/json"],
      };
    }),
  };
}
