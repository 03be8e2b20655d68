import { readFile } from "node:fs/promises";
import { basename, extname } from "node:path";
import type * as z from "zod";
import { invalidJsonAt } from "../../shared/http/json-position.ts";
import { ImportError } from "../../shared/import/import-error.ts";
import { problemsNamed } from "../../shared/import/problems.ts";
import { unreadable } from "../../shared/import/unreadable.ts";
import { isNestedTooDeep, nestedTooDeep } from "../../shared/nesting.ts";
import { problemText, unknownMember } from "./schema-problems.ts";

async function readJson(path: string): Promise<unknown> {
  const file = basename(path);
  let text = "";
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(await readFile(path));
    const content: unknown = JSON.parse(text);
    if (isNestedTooDeep(content)) throw refusal(file, nestedTooDeep);
    return content;
  } catch (error) {
    if (error instanceof SyntaxError) {
      if (extname(path) === ".csv") throw refusal(file, "is CSV, and JSON is expected");
      const { line, column } = invalidJsonAt(text) ?? { line: 1, column: 1 };
      throw refusal(file, `is not JSON: see line ${line}, column ${column}`);
    }
    if (error instanceof TypeError) throw refusal(file, "is not UTF-8");
    if (error instanceof Error && "code" in error) throw refusal(file, unreadable(error.code));
    throw error;
  }
}

/**
 * Reads a file that is one JSON value.
 * @throws {ImportError} naming each member that the schema refuses.
 */
export async function readJsonAs<Schema extends z.ZodType>(
  schema: Schema,
  path: string,
): Promise<z.output<Schema>> {
  const content = await readJson(path);
  const parsed = schema.safeParse(content);
  if (parsed.success) return parsed.data;
  const placeOf = (path: readonly PropertyKey[]) => path.map(String).join(".") || "the file";
  const problems = parsed.error.issues.flatMap((issue) =>
    issue.code === "unrecognized_keys"
      ? issue.keys
          .map((key) => [...issue.path, key])
          .map((path) => `${placeOf(path)}: ${unknownMember(schema, path)}`)
      : [`${placeOf(issue.path)}: ${problemText(issue, content)}`],
  );
  throw refusal(basename(path), ...problems.slice(0, problemsNamed));
}

function refusal(file: string, ...problems: readonly string[]): ImportError {
  return new ImportError(problems.map((problem) => `${file}: ${problem}`));
}
