import { LogGroup } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";
import type { StageTraits } from "../stage.ts";
import { removalPolicyIn } from "./removal-policy.ts";

/**
 * A log group with limited retention. It has CloudWatch's own encryption: no line holds personal data, and the log must
 * be readable when our key is disabled.
 */
export class ServiceLog extends LogGroup {
  constructor(scope: Construct, id: string, traits: StageTraits) {
    super(scope, id, { retention: traits.logRetentionDays, removalPolicy: removalPolicyIn(traits) });
  }
}
