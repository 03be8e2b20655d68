/**
 * The roles by which API Gateway invokes functions.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/permissions.html
 */
import * as z from "zod";
import { decide, policySchema } from "./iam-policy.ts";
import type { Resources } from "./resources.ts";

const roleSchema = z.object({
  Policies: z.array(z.object({ PolicyDocument: policySchema })).default([]),
});

/**
 * Requires that a role may invoke a function, as AWS does at each request.
 * @param caller the logical id of the method or authorizer that assumes the role.
 * @param functionArn with the alias, if it is an alias that is invoked.
 * @throws {Error} naming the caller, unless a policy in the role itself allows it.
 */
export function requireInvoker(
  resources: Resources,
  caller: string,
  roleArn: string,
  functionArn: string,
): void {
  const role = resources
    .ofType("AWS::IAM::Role")
    .find((logicalId) => resources.names(logicalId).attributes.Arn === roleArn);
  if (role === undefined)
    throw new Error(`${caller} assumes ${roleArn}, which is not a role of the template`);
  const { Policies } = resources.properties(role, roleSchema, ["AssumeRolePolicyDocument"]);
  const Statement = Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
  if (decide({ Statement }, "lambda:InvokeFunction", functionArn) !== "allow")
    throw new Error(`${caller} calls ${functionArn}, which the policies of ${role} do not allow`);
}
