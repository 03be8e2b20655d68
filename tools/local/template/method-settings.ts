/**
 * The method settings of a stage.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-apigateway-stage-methodsetting.html
 */
import * as z from "zod";

/** The settings of one method or, with `/*` and `*`, the default for all others. */
export const methodSettingSchema = z.strictObject({
  HttpMethod: z.enum(["*", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"]),
  ResourcePath: z.string().startsWith("/"),
  DataTraceEnabled: z.literal(false, "execution logs are not supported locally").optional(),
  ThrottlingRateLimit: z.coerce.number().positive().optional(),
  ThrottlingBurstLimit: z.coerce.number().int().positive().optional(),
});

/** The token bucket of a method. */
export interface MethodThrottling {
  /** Tokens added per second. */
  readonly rate: number;
  /** The size of the bucket. */
  readonly burst: number;
}

/** The throttling of a method: its own settings, or else the default. */
export function throttlingOf(
  settings: readonly z.output<typeof methodSettingSchema>[],
  verb: string,
  path: string,
): MethodThrottling | undefined {
  const find = (HttpMethod: string, ResourcePath: string) =>
    settings.find((one) => one.HttpMethod === HttpMethod && one.ResourcePath === ResourcePath);
  // In `ResourcePath`, slashes are written `~1`; the root is a plain slash.
  const resourcePath = path === "/" ? "/" : `/${path.replaceAll("/", "~1")}`;
  const found = find(verb, resourcePath) ?? find("*", "/*");
  if (found?.ThrottlingRateLimit === undefined || found.ThrottlingBurstLimit === undefined) return undefined;
  return { rate: found.ThrottlingRateLimit, burst: found.ThrottlingBurstLimit };
}
