import { LogGroup } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";
import { removalPolicyIn, type StageTraits } from "../stage.ts";

/**
 * A log group that forgets. It is encrypted as CloudWatch does by itself: no line holds data of a person, and a key
 * that cannot be used must not take the log along that says so.
 */
export class ServiceLog extends LogGroup {
  constructor(scope: Construct, id: string, traits: StageTraits) {
    super(scope, id, { retention: traits.logRetention, removalPolicy: removalPolicyIn(traits) });
  }
}
