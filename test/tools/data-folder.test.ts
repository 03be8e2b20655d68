import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../shared/temporary-folder.ts";
import { hasDemoLogins } from "../../tools/import/data-files.ts";

test("only a folder with a model and nothing else has the demo's logins", () => {
  const folder = temporaryFolder("data-folder-");
  onTestFinished(() => folder.remove());
  expect(hasDemoLogins(folder.path)).toBe(false);
  writeFileSync(join(folder.path, "density-model.json"), "{}");
  expect(hasDemoLogins(folder.path)).toBe(true);
  writeFileSync(join(folder.path, "devices.json"), "[]");
  expect(hasDemoLogins(folder.path)).toBe(false);
});
