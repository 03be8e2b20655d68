/**
 * The settings of methods of a stage.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-apigateway-stage-methodsetting.html
 */
import * as z from "zod";

/** The settings of one method, or of all without settings of their own: `/*` and `*`. */
export const methodSettingSchema = z.strictObject({
  HttpMethod: z.enum(["*", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"]),
  ResourcePath: z.string().startsWith("/"),
  DataTraceEnabled: z.literal(false, "execution logs are not supported locally").optional(),
  ThrottlingRateLimit: z.coerce.number().positive().optional(),
  ThrottlingBurstLimit: z.coerce.number().int().positive().optional(),
});

/** The token bucket of a method. */
export interface MethodThrottling {
  /** Requests a second, which refill the bucket. */
  readonly rate: number;
  /** The size of the bucket. */
  readonly burst: number;
}

/** The throttling of a method: its own settings replace those of all methods. */
export function throttlingOf(
  settings: readonly z.output<typeof methodSettingSchema>[],
  verb: string,
  path: string,
): MethodThrottling | undefined {
  const find = (HttpMethod: string, ResourcePath: string) =>
    settings.find((one) => one.HttpMethod === HttpMethod && one.ResourcePath === ResourcePath);
  // In a resource's path, `~1` is a slash; the root is a slash alone.
  const resourcePath = path === "/" ? "/" : `/${path.replaceAll("/", "~1")}`;
  const found = find(verb, resourcePath) ?? find("*", "/*");
  if (found?.ThrottlingRateLimit === undefined || found.ThrottlingBurstLimit === undefined) return undefined;
  return { rate: found.ThrottlingRateLimit, burst: found.ThrottlingBurstLimit };
}
