import { loadAwsServiceSpecSync } from "@aws-cdk/aws-service-spec";
import type { Property, PropertyType, Resource, TypeDefinition } from "@aws-cdk/service-spec-types";
import * as z from "zod";
import type { Template } from "./template.ts";

// What AWS publishes of every resource of CloudFormation, as the CDK's own classes are generated from it.
const specification = loadAwsServiceSpecSync();

const pseudoParameters = [
  "AccountId",
  "NoValue",
  "NotificationARNs",
  "Partition",
  "Region",
  "StackId",
  "StackName",
  "URLSuffix",
];

const intrinsic = z.record(z.string(), z.unknown()).refine((value) => {
  const [name, ...others] = Object.keys(value);
  return others.length === 0 && name !== undefined && /^(Ref|Condition|Fn::\w+)$/.test(name);
});

/** What CloudFormation would refuse in the properties of a template's resources: paths with the reason. */
export function violationsOf(template: Template): string[] {
  return Object.entries(template.Resources).flatMap(([logicalId, { Type, Properties }]) => {
    const resource = resourceNamed(Type);
    if (resource === undefined) return [`${logicalId}: ${Type} is no resource type`];
    return violationsIn(Properties, resource, `${logicalId} (${Type})`);
  });
}

/** References to resources, parameters or attributes that do not exist. */
export function danglingReferences(template: Template): string[] {
  const dangling = (from: string, value: unknown) =>
    referencesIn(value)
      .filter((reference) => !exists(reference, template))
      .map((reference) => `${from} refers to ${reference.join(".")}`);
  return [
    ...Object.entries(template.Resources).flatMap(([logicalId, { Properties, DependsOn }]) => [
      ...DependsOn.filter((id) => !(id in template.Resources)).map((id) => `${logicalId} depends on ${id}`),
      ...dangling(logicalId, Properties),
    ]),
    ...Object.entries(template.Outputs).flatMap(([name, { Value }]) => dangling(`output ${name}`, Value)),
  ];
}

/** Resources of one type that the template gives the same identity: names, or a verb on the same path. */
export function duplicates(template: Template): string[] {
  const first = new Map<string, string>();
  return Object.entries(template.Resources).flatMap(([logicalId, { Type, Properties }]) => {
    const names = resourceNamed(Type)?.primaryIdentifier ?? [];
    // Without a name of the template's, the service makes one.
    if (names.length === 0 || names.some((name) => !(name in Properties))) return [];
    const identity = JSON.stringify([Type, ...names.map((name) => Properties[name])]);
    const before = first.get(identity);
    first.set(identity, before ?? logicalId);
    return before === undefined ? [] : [`${logicalId} is ${before} again`];
  });
}

/** The resources that, one after the other, wait for each other: no deployment of them can begin. */
export function circle(template: Template): string[] | undefined {
  const done = new Set<string>();
  const visit = (id: string, path: readonly string[]): string[] | undefined => {
    if (path.includes(id)) return [...path.slice(path.indexOf(id)), id];
    const resource = template.Resources[id];
    if (resource === undefined || done.has(id)) return undefined;
    const next = [...resource.DependsOn, ...referencesIn(resource.Properties).map(([target]) => target)];
    for (const target of next) {
      const found = visit(target, [...path, id]);
      if (found !== undefined) return found;
    }
    done.add(id);
    return undefined;
  };
  for (const id of Object.keys(template.Resources)) {
    const found = visit(id, []);
    if (found !== undefined) return found;
  }
  return undefined;
}

type Reference = readonly [target: string, attribute?: string];

function exists([target, attribute]: Reference, template: Template): boolean {
  const resource = template.Resources[target];
  if (attribute === undefined) return resource !== undefined || isParameter(target, template);
  const { attributes, properties } = resourceNamed(resource?.Type ?? "") ?? {
    attributes: {},
    properties: {},
  };
  return attribute in attributes || attribute in properties;
}

function isParameter(name: string, template: Template): boolean {
  return name in template.Parameters || pseudoParameters.some((pseudo) => name === `AWS::${pseudo}`);
}

/** Everything that a value refers to, in `Ref`, `Fn::GetAtt` and `Fn::Sub`. */
function referencesIn(value: unknown): Reference[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]): Reference[] => {
    if (name === "Ref" && typeof inner === "string") return [[inner]];
    if (name === "Fn::GetAtt") return [z.tuple([z.string(), z.string()]).parse(inner)];
    if (name !== "Fn::Sub") return referencesIn(inner);
    const [text, variables] = z
      .union([z.string().transform((text) => [text, {}] as const), z.tuple([z.string(), z.looseObject({})])])
      .parse(inner);
    const names = [...text.matchAll(/\$\{(\w+)(?:\.([\w.]+))?\}/g)].filter(
      ([, id = ""]) => !(id in variables),
    );
    return [
      ...names.map(([, id = "", attribute]): Reference => (attribute === undefined ? [id] : [id, attribute])),
      ...referencesIn(variables),
    ];
  });
}

function resourceNamed(type: string): Resource | undefined {
  return specification.lookup("resource", "cloudFormationType", "equals", type)[0];
}

function violationsIn(value: object, { properties }: Resource | TypeDefinition, path: string): string[] {
  const required = Object.entries(properties).filter(([name, { required }]) => required && !(name in value));
  return [
    ...required.map(([name]) => `${path}: ${name} is missing`),
    ...Object.entries(value).flatMap(([name, inner]) => {
      const property: Property | undefined = properties[name];
      return property === undefined
        ? [`${path}: ${name} is not a property`]
        : mismatches(inner, property.type, `${path}.${name}`);
    }),
  ];
}

/** Why a value is not of a type; what is known only when the stack is deployed is of every type. */
function mismatches(value: unknown, type: PropertyType, path: string): string[] {
  if (intrinsic.safeParse(value).success) return [];
  const wrong = [`${path}: ${JSON.stringify(value)} is not ${type.type}`];
  switch (type.type) {
    case "string":
      return typeof value !== "string" ? wrong : allowed(value, type.allowedValues, path);
    case "integer":
      return !Number.isSafeInteger(value) ? wrong : allowed(value, type.allowedValues, path);
    case "number":
      return typeof value === "number" ? [] : wrong;
    case "boolean":
      return typeof value === "boolean" ? [] : wrong;
    case "tag":
      return z.strictObject({ Key: z.string(), Value: z.unknown() }).safeParse(value).success ? [] : wrong;
    case "array":
      if (!Array.isArray(value)) return wrong;
      return value.flatMap((inner, index) => mismatches(inner, type.element, `${path}[${index}]`));
    case "map":
      if (!isObject(value)) return wrong;
      return Object.entries(value).flatMap(([name, inner]) =>
        mismatches(inner, type.element, `${path}.${name}`),
      );
    case "ref":
      if (!isObject(value)) return wrong;
      return violationsIn(value, specification.get("typeDefinition", type.reference), path);
    case "union": {
      const each = type.types.map((one) => mismatches(value, one, path));
      return each.some((found) => found.length === 0) ? [] : (each[0] ?? wrong);
    }
    case "json":
      return isObject(value) || Array.isArray(value) || typeof value === "string" ? [] : wrong;
    case "date-time":
      return typeof value === "string" && !Number.isNaN(Date.parse(value)) ? [] : wrong;
    case "null":
      return value === null ? [] : wrong;
  }
}

function allowed(value: unknown, values: readonly unknown[] | undefined, path: string): string[] {
  if (values === undefined || values.includes(value)) return [];
  return [`${path}: ${JSON.stringify(value)} is none of ${values.join(", ")}`];
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
