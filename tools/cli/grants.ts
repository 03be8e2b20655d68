import * as z from "zod";

const oneOrMore = <Schema extends z.ZodType>(schema: Schema) =>
  z.union([z.array(schema), schema.transform((one) => [one])]);

const statement = z.object({
  Effect: z.enum(["Allow", "Deny"]),
  Action: oneOrMore(z.string()),
  Resource: oneOrMore(z.unknown()),
  Condition: z.unknown().optional(),
});

const document = z.object({ Statement: z.array(statement) });

/** A role with the policies that are part of it. */
const roleProperties = z.object({
  AssumeRolePolicyDocument: z.unknown().optional(),
  Policies: z.array(z.object({ PolicyDocument: document })).default([]),
});

/** What is read of a template of CloudFormation. */
export const templateSchema = z.object({
  Metadata: z.record(z.string(), z.unknown()).default({}),
  Resources: z.record(
    z.string(),
    z.object({ Type: z.string(), Properties: z.record(z.string(), z.unknown()).default({}) }),
  ),
});

type Template = z.output<typeof templateSchema>;

/** A right of a role: one action on one resource, under one condition if there is any. */
interface Grant {
  readonly role: string;
  readonly action: string;
  /** As in the template. */
  readonly resource: string;
  readonly condition: string | undefined;
}

/**
 * The rights that roles of both templates have in the deployed one only. While a release shifts, and after it is rolled
 * back, the version before runs with the roles of the new template.
 * @throws {z.ZodError} for a policy of a form that this stack does not use.
 */
export function removedGrants(deployed: Template, next: Template): readonly Grant[] {
  const kept = new Set(grantsOf(next).map(textOf));
  return grantsOf(deployed).filter(
    ({ role, ...grant }) =>
      role in next.Resources && !isOfCodeDeploy(role, next) && !kept.has(textOf({ role, ...grant })),
  );
}

/** Whether no version runs with a role: CodeDeploy shifts functions with it, another one after the next release. */
function isOfCodeDeploy(role: string, { Resources }: Template): boolean {
  const { AssumeRolePolicyDocument } = roleProperties.parse(Resources[role]?.Properties);
  return JSON.stringify(AssumeRolePolicyDocument ?? "").includes("codedeploy.amazonaws.com");
}

function grantsOf(template: Template): Grant[] {
  return policiesOf(template).flatMap(({ role, statements }) =>
    statements
      .filter(({ Effect }) => Effect === "Allow")
      .flatMap(({ Action, Resource, Condition }) =>
        Action.flatMap((action) =>
          Resource.map((resource) => ({
            role,
            action,
            resource: JSON.stringify(resource),
            condition: JSON.stringify(Condition),
          })),
        ),
      ),
  );
}

/** What a policy allows or denies. */
export type Statement = z.output<typeof statement>;

/** A policy of a role. */
interface RolePolicy {
  readonly role: string;
  readonly statements: readonly Statement[];
}

/**
 * Every policy of every role: this stack has them in their roles alone.
 * @throws {z.ZodError} for a policy of a form that this stack does not use.
 */
export function policiesOf({ Resources }: Pick<Template, "Resources">): RolePolicy[] {
  return Object.entries(Resources).flatMap(([role, { Type, Properties }]) => {
    if (Type !== "AWS::IAM::Role") return [];
    const { Policies } = roleProperties.parse(Properties);
    return Policies.map(({ PolicyDocument }) => ({ role, statements: PolicyDocument.Statement }));
  });
}

function textOf({ role, action, resource, condition }: Grant): string {
  return [role, action, resource, condition].join(" ");
}
