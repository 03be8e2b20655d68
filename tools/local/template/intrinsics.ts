/**
 * The intrinsic functions of CloudFormation that the stack uses.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference.html
 */
import * as z from "zod";
import type { TemplateDocument } from "./assembly.ts";
import { account, type PhysicalNames, physicalNames, region } from "./physical-names.ts";

type Operation = (argument: unknown, where: string) => unknown;

const joinSchema = z.tuple([z.string(), z.unknown()]);
const selectSchema = z.tuple([z.coerce.number().int().nonnegative(), z.unknown()]);
const attributeSchema = z.tuple([z.string(), z.string()]);
const substitutionSchema = z.string("Fn::Sub with variables is not supported locally");

const pseudoParameters: Readonly<Record<string, string>> = {
  "AWS::AccountId": account,
  "AWS::Partition": "aws",
  "AWS::Region": region,
};

/**
 * Resolves the expressions of one template.
 *
 * It does so on demand, so that unused expressions cannot fail.
 */
export class Intrinsics {
  readonly #document: TemplateDocument;
  readonly #refs: ReadonlyMap<string, string>;
  readonly #operations: Readonly<Record<string, Operation>> = {
    Ref: (argument, where) => this.#reference(this.#text(argument, where), where),
    "Fn::GetAtt": (argument, where) => {
      const [logicalId, name] = checked(attributeSchema, argument, where);
      const value = this.names(logicalId, where).attributes[name];
      if (value === undefined)
        throw new Error(`Fn::GetAtt ${logicalId}.${name} has no local value, at ${where}`);
      return value;
    },
    "Fn::Join": (argument, where) => {
      const [separator, parts] = checked(joinSchema, argument, where);
      return this.#list(parts, where)
        .map((part) => this.#text(part, where))
        .join(separator);
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
    "Fn::Sub": (argument, where) =>
      checked(substitutionSchema, argument, where).replace(/\$\{([^}]+)\}/g, (_, name: string) =>
        this.#reference(name, where),
      ),
  };

  /** @param refs the values of `Ref`, by logical id, that only the server that created the resource knows. */
  constructor(document: TemplateDocument, refs: ReadonlyMap<string, string>) {
    this.#document = document;
    this.#refs = refs;
  }

  /**
   * The value of an expression.
   * @param where names the place in errors.
   * @throws {Error} if the value cannot be known on this machine.
   */
  resolve(expression: unknown, where: string): unknown {
    if (typeof expression === "string" && expression.includes("{{resolve:")) {
      throw new Error(`A dynamic reference cannot be resolved locally, at ${where}`);
    }
    if (Array.isArray(expression)) {
      return expression.map((item, index) => this.resolve(item, `${where}[${index}]`));
    }
    if (typeof expression !== "object" || expression === null) return expression;

    const entries = Object.entries(expression);
    const [name, argument] = entries[0] ?? [];
    if (entries.length === 1 && name !== undefined && (name === "Ref" || name.startsWith("Fn::"))) {
      const operation = this.#operations[name];
      if (operation === undefined) throw new Error(`${name} is not supported locally, at ${where}`);
      return operation(argument, where);
    }
    return Object.fromEntries(entries.map(([key, value]) => [key, this.resolve(value, `${where}.${key}`)]));
  }

  /** Names of a resource. @param where the place that refers to it, for errors. */
  names(logicalId: string, where: string): PhysicalNames {
    const resource = this.#document.Resources[logicalId];
    if (resource === undefined) throw new Error(`The template has no resource ${logicalId}, at ${where}`);
    const names = physicalNames(resource.Type, logicalId, (property, otherwise) =>
      this.#text(resource.Properties[property] ?? otherwise, `${logicalId}.${property}`),
    );
    if (names === undefined) {
      throw new Error(`${logicalId} (${resource.Type}) does not exist locally but is used at ${where}`);
    }
    return { ...names, ref: this.#refs.get(logicalId) ?? names.ref };
  }

  #reference(name: string, where: string): string {
    return pseudoParameters[name] ?? this.names(name, where).ref;
  }

  #list(expression: unknown, where: string): readonly unknown[] {
    return checked(z.array(z.unknown()), this.resolve(expression, where), where);
  }

  #text(expression: unknown, where: string): string {
    const value = this.resolve(expression, where);
    if (typeof value === "string") return value;
    throw new Error(`Expected text at ${where}`);
  }
}

function checked<S extends z.ZodType>(schema: S, value: unknown, where: string): z.output<S> {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw new Error(`Malformed at ${where}: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}
