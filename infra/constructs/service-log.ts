import { Fn, Stack } from "aws-cdk-lib";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";
import type { StageTraits } from "../stage.ts";
import { removalPolicyIn } from "./removal-policy.ts";

/**
 * A log group with limited retention. It has CloudWatch's own encryption: no line holds personal data, and the log must
 * be readable when our key is disabled.
 */
export class ServiceLog extends LogGroup {
  /** @param prefix of the name where AWS prescribes one; CloudFormation makes the name otherwise. */
  constructor(scope: Construct, id: string, traits: StageTraits, prefix?: string) {
    super(scope, id, {
      retention: traits.logRetentionDays,
      removalPolicy: removalPolicyIn(traits),
      ...(prefix === undefined ? {} : { logGroupName: `${prefix}-${idOfStack(scope)}` }),
    });
  }
}

/** Eight digits that the next stack of the same name does not have, as the log of a deleted one may still be there. */
function idOfStack(scope: Construct): string {
  return Fn.select(0, Fn.split("-", Fn.select(2, Fn.split("/", Stack.of(scope).stackId))));
}
