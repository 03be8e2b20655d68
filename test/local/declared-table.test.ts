import { expect, test } from "vitest";
import { tables } from "../../functions/areas.ts";
import { declaredTable } from "../../tools/local/servers/declared-table.ts";
import { loadTemplate } from "../../tools/local/template/template.ts";
import { sharedService } from "../support/service.ts";

test("a table that tests make has the keys and indexes that the table has in the template", () => {
  const inTemplate = new Map(loadTemplate(sharedService.assembly).tables.map((table) => [table.name, table]));
  expect(inTemplate.size).toBe(tables.length);
  for (const table of tables) {
    const name = [...inTemplate.keys()].find((candidate) => candidate.endsWith(`-${table.name}`)) ?? "";
    expect(sorted(declaredTable(table, name).definition)).toEqual(sorted(inTemplate.get(name)?.definition));
  }
});

function sorted(definition: ReturnType<typeof declaredTable>["definition"] | undefined) {
  const attributes = definition?.AttributeDefinitions.map(({ AttributeName }) => AttributeName);
  return { ...definition, AttributeDefinitions: attributes?.sort() };
}
