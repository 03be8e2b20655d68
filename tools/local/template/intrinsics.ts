/**
 * Intrinsic functions of CloudFormation.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference.html
 */
import * as z from "zod";
import type { TemplateDocument } from "./assembly.ts";
import { account, type PhysicalNames, physicalNames, region } from "./physical-names.ts";

type Operation = (argument: unknown, where: string) => unknown;

const joinSchema = z.tuple([z.string(), z.unknown()]);
const selectSchema = z.tuple([z.coerce.number().int().nonnegative(), z.unknown()]);
const conditionalSchema = z.tuple([z.string(), z.unknown(), z.unknown()]);
const substitutionSchema = z.union([
  z.string().transform((text): [string, Record<string, unknown>] => [text, {}]),
  z.tuple([z.string(), z.record(z.string(), z.unknown())]),
]);

/**
 * Turns expressions of one template into values.
 *
 * It works on demand, so that an expression nobody reads cannot fail.
 */
export class Intrinsics {
  readonly #document: TemplateDocument;
  readonly #refs: ReadonlyMap<string, string>;
  readonly #pseudoParameters: Readonly<Record<string, unknown>>;
  readonly #operations: Readonly<Record<string, Operation>> = {
    Ref: (argument, where) => this.#reference(this.#text(argument, where), where),
    "Fn::GetAtt": (argument, where) => this.#attribute(argument, where),
    "Fn::Join": (argument, where) => {
      const [separator, parts] = checked(joinSchema, argument, where);
      return this.#texts(parts, where).join(separator);
    },
    "Fn::Split": (argument, where) => {
      const [separator, text] = checked(joinSchema, argument, where);
      return this.#text(text, where).split(separator);
    },
    "Fn::Select": (argument, where) => {
      const [index, list] = checked(selectSchema, argument, where);
      const chosen = this.#list(list, where)[index];
      if (chosen === undefined) throw new Error(`Fn::Select has no element ${index} at ${where}`);
      return chosen;
    },
    "Fn::Sub": (argument, where) => this.#substitute(argument, where),
    "Fn::If": (argument, where) => {
      const [condition, yes, no] = checked(conditionalSchema, argument, where);
      return this.resolve(this.condition(condition) ? yes : no, where);
    },
    "Fn::Equals": (argument, where) => {
      const [left, right] = this.#list(argument, where);
      return JSON.stringify(left) === JSON.stringify(right);
    },
    "Fn::And": (argument, where) => this.#list(argument, where).every((value) => value === true),
    "Fn::Or": (argument, where) => this.#list(argument, where).some((value) => value === true),
    "Fn::Not": (argument, where) => this.#list(argument, where)[0] !== true,
    Condition: (argument, where) => this.condition(this.#text(argument, where)),
  };

  /** @param refs by logical id, what `Ref` gives where only the server that created the resource knows it. */
  constructor(document: TemplateDocument, stackName: string, refs: ReadonlyMap<string, string> = new Map()) {
    this.#document = document;
    this.#refs = refs;
    this.#pseudoParameters = {
      "AWS::AccountId": account,
      "AWS::NoValue": undefined,
      "AWS::NotificationARNs": [],
      "AWS::Partition": "aws",
      "AWS::Region": region,
      "AWS::StackId": `arn:aws:cloudformation:${region}:${account}:stack/${stackName}/local`,
      "AWS::StackName": stackName,
      "AWS::URLSuffix": "amazonaws.com",
    };
  }

  /**
   * The value of an expression; members that are `AWS::NoValue` are left out.
   * @param where names the place in errors.
   * @throws {Error} for what cannot be known on this machine.
   */
  resolve(expression: unknown, where: string): unknown {
    if (typeof expression === "string" && expression.includes("{{resolve:")) {
      throw new Error(`A dynamic reference cannot be resolved locally, at ${where}`);
    }
    if (Array.isArray(expression)) {
      return expression
        .map((item, index) => this.resolve(item, `${where}[${index}]`))
        .filter((item) => item !== undefined);
    }
    if (typeof expression !== "object" || expression === null) return expression;

    const entries = Object.entries(expression);
    const [name, argument] = entries[0] ?? [];
    if (entries.length === 1 && name !== undefined && this.#isIntrinsic(name, argument)) {
      const operation = this.#operations[name];
      if (operation === undefined) throw new Error(`${name} is not supported locally, at ${where}`);
      return operation(argument, where);
    }
    return Object.fromEntries(
      entries
        .map(([key, value]) => [key, this.resolve(value, `${where}.${key}`)] as const)
        .filter(([, value]) => value !== undefined),
    );
  }

  /** Whether a named condition of the template holds. */
  condition(name: string): boolean {
    if (!(name in this.#document.Conditions)) throw new Error(`The template has no condition ${name}`);
    return this.resolve(this.#document.Conditions[name], `Conditions.${name}`) === true;
  }

  /** Names of a resource; `where` names the place that asks. */
  names(logicalId: string, where: string): PhysicalNames {
    const resource = this.#document.Resources[logicalId];
    if (resource === undefined) throw new Error(`The template has no resource ${logicalId}, at ${where}`);
    const names = physicalNames(resource.Type, logicalId, (property) => {
      const value = resource.Properties[property];
      return value === undefined ? undefined : this.#text(value, `${logicalId}.${property}`);
    });
    if (names === undefined) {
      throw new Error(`${logicalId} (${resource.Type}) does not exist locally but is used at ${where}`);
    }
    return { ...names, ref: this.#refs.get(logicalId) ?? names.ref };
  }

  /** `Condition` is an intrinsic with the name of a condition and a policy element with an object. */
  #isIntrinsic(name: string, argument: unknown): boolean {
    return (
      name === "Ref" || name.startsWith("Fn::") || (name === "Condition" && typeof argument === "string")
    );
  }

  #reference(name: string, where: string): unknown {
    if (name in this.#pseudoParameters) return this.#pseudoParameters[name];
    const parameter = this.#document.Parameters[name];
    if (parameter === undefined) return this.names(name, where).ref;
    if (parameter.Default === undefined || parameter.Type.startsWith("AWS::SSM::")) {
      throw new Error(`Parameter ${name} has no local value, at ${where}`);
    }
    const isList = parameter.Type === "CommaDelimitedList" || parameter.Type.startsWith("List<");
    return isList ? String(parameter.Default).split(",") : parameter.Default;
  }

  #attribute(argument: unknown, where: string): string {
    const path = typeof argument === "string" ? argument : this.#texts(argument, where).join(".");
    const [logicalId = "", ...rest] = path.split(".");
    const value = this.names(logicalId, where).attributes[rest.join(".")];
    if (value === undefined) throw new Error(`Fn::GetAtt ${path} has no local value, at ${where}`);
    return value;
  }

  #substitute(argument: unknown, where: string): string {
    const [text, variables] = checked(substitutionSchema, argument, where);
    return text.replace(/\$\{([^}]+)\}/g, (_, name: string) => {
      if (name.startsWith("!")) return `\${${name.slice(1)}}`;
      if (name in variables) return this.#text(variables[name], where);
      if (name.startsWith("AWS::") || !name.includes(".")) return this.#text({ Ref: name }, where);
      return this.#attribute(name, where);
    });
  }

  #list(expression: unknown, where: string): readonly unknown[] {
    return checked(z.array(z.unknown()), this.resolve(expression, where), where);
  }

  #texts(expression: unknown, where: string): readonly string[] {
    return this.#list(expression, where).map((item) => this.#text(item, where));
  }

  #text(expression: unknown, where: string): string {
    const value = this.resolve(expression, where);
    if (typeof value === "string") return value;
    if (typeof value === "number" || typeof value === "boolean") return String(value);
    throw new Error(`Expected text at ${where}`);
  }
}

function checked<S extends z.ZodType>(schema: S, value: unknown, where: string): z.output<S> {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw new Error(`Malformed at ${where}: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}
