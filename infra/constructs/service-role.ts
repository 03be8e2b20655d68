import { Lazy, Stack } from "aws-cdk-lib";
import {
  type AddToPrincipalPolicyResult,
  type CfnRole,
  PolicyDocument,
  type PolicyStatement,
  Role,
  ServicePrincipal,
} from "aws-cdk-lib/aws-iam";
import type { Construct } from "constructs";

/**
 * What assumes roles without saying for which account, as far as AWS documents: a condition would keep it from
 * assuming them. CodeDeploy says it: https://docs.aws.amazon.com/codedeploy/latest/userguide/security_confused_deputy.html
 */
const namesNoAccount = ["apigateway.amazonaws.com"];

/**
 * A role with all its rights in one policy of its own, not in a resource of its own: a stack takes 500 resources, and
 * what uses the role depends on its rights too.
 */
export class ServiceRole extends Role {
  readonly #rights = new PolicyDocument();

  /** @param service that assumes it, such as `lambda.amazonaws.com`. */
  constructor(scope: Construct, id: string, service: string) {
    const ofThisAccount = { conditions: { StringEquals: { "aws:SourceAccount": Stack.of(scope).account } } };
    const assumedBy = new ServicePrincipal(service, namesNoAccount.includes(service) ? {} : ofThisAccount);
    super(scope, id, { assumedBy });
    const policies = () => [{ policyName: "Rights", policyDocument: this.#rights }];
    (this.node.defaultChild as CfnRole).policies = Lazy.any({
      produce: () => (this.#rights.isEmpty ? undefined : policies()),
    });
  }

  override addToPrincipalPolicy(statement: PolicyStatement): AddToPrincipalPolicyResult {
    this.#rights.addStatements(statement);
    return { statementAdded: true, policyDependable: this };
  }
}
