/** The reference in a real browser, for `npm run test:all`. */
import { execFile } from "node:child_process";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { decodeJwt } from "jose";
import type { Page, Route } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { documentedAreas, endpoints } from "../../functions/areas.ts";
import { demoClientsToken } from "../oauth2/test-client.ts";
import {
  type ConsolePage,
  cellsDrawn,
  chromium,
  expectAccessible,
  expectNoProblems,
  isWanted,
  logIn,
  openConsole,
  patience,
  screenshot,
  useConsole,
} from "./console-page.ts";

describe.skipIf(chromium === undefined || !isWanted)(
  "the reference in a browser",
  {
    timeout: 3 * patience,
  },
  () => {
    const used = useConsole();

    async function openReference() {
      const opened = await openConsole(used.browser, `${used.service.url}/reference`, {
        viewport: { width: 1440, height: 900 },
      });
      await opened.page.waitForSelector("#getQosProfile");
      return opened;
    }

    describe("without a login", () => {
      let reader: ConsolePage;
      beforeAll(async () => {
        reader = await openReference();
      }, patience);
      afterAll(() => reader?.page.context().close());

      test("the reference has every operation with its program, without a login", async () => {
        const { page } = reader;

        const ids = await page
          .locator("#reference section:has(.try)")
          .evaluateAll((all) => all.map(({ id }) => id));

        const all = documentedAreas.flatMap((area) => area.endpoints.map(({ operationId }) => operationId));
        expect(ids.sort()).toEqual(all.filter((id) => id !== "issueToken").sort());
        expect(await page.locator("#login[open]").count()).toBe(0);
        expect(await page.textContent("#issueToken .about")).toMatch(/At least 1 character(?!s)/);
        await page.click("#getDensityOperation .try summary");
        expect(await page.textContent("#getDensityOperation .try button")).toBe("Log in to send");
        expectNoProblems(reader);
      });

      test("the reference is searched and read with the keyboard", async () => {
        const { page } = reader;

        await page.keyboard.press("/");
        await page.keyboard.type("redeliver again");
        const found = await page.locator(".contents-list a:visible").allTextContents();
        await page.keyboard.press("ArrowDown");
        await page.keyboard.press("Enter");

        expect(found).toContain("POSTDeliver the answer of a density operation again");
        expect(found.length).toBeLessThan(endpoints.length / 2);
        expect(new URL(page.url()).hash).toMatch(/^#(population-density|redeliverDensityOperation)$/);
        await page.focus("#getQosProfile [role=tab][aria-selected=true]");
        await page.keyboard.press("ArrowRight");
        expect(await programOf(page, "checkNumberRecycling")).toContain("await fetch(");
        expectNoProblems(reader);
      });

      test("a search marks the words that it has found, and unfolds the first of them in a section that is chosen", async () => {
        const { page } = reader;
        const find = async (words: string) => {
          await page.getByRole("searchbox", { name: "Search the reference" }).fill(words);
          return await page.locator(".contents-list li a:visible").allTextContents();
        };
        expect(await find("3-legged")).toEqual(
          expect.arrayContaining(["Get started", "POSTIssue an access token"]),
        );
        expect(await find("CAMARA")).toContain("POSTRetrieve a device identifier");
        expect(await find("device v0.3")).toContain("POSTRetrieve a device identifier");

        await page.getByRole("searchbox", { name: "Search the reference" }).fill("Idempotency-Key");
        const marks = await page.evaluate(
          '[...CSS.highlights.get("found")].map((range) => range.toString())',
        );
        await page.getByRole("searchbox").fill("accessTokenExpiresUtc");
        await page.keyboard.press("Enter");

        expect(new Set(marks as string[])).toEqual(new Set(["Idempotency-Key"]));
        await page.locator("#retrievePopulationDensity").getByText("accessTokenExpiresUtc").first().waitFor();
      });
    });

    describe("with the login of the page", () => {
      let loggedIn: ConsolePage;
      beforeAll(async () => {
        loggedIn = await openReference();
        await logInAt(loggedIn.page);
      }, patience);
      afterAll(() => loggedIn?.page.context().close());
      /** The browser reports responses that these tests ask for. */
      const refused = /status of 40[014]/;

      test("three forms answer in words without any JSON, and say what the API says of a number that nobody has", async () => {
        const { page } = loggedIn;
        const form = (name: string) => page.getByRole("form", { name });
        const [profiles, recycling, device] = [
          form("List QoS profiles"),
          form("Check number recycling"),
          form("Retrieve a device identifier"),
        ];

        await profiles.getByRole("button", { name: "List profiles" }).click();
        await recycling.getByRole("button", { name: "Check the number" }).click();
        await device.getByRole("button", { name: "Find the device" }).click();

        await profiles.getByRole("row", { name: /^QOS_E ACTIVE .* 10 Mbps 20 Mbps/ }).waitFor();
        await recycling.getByText("Yes", { exact: true }).waitFor();
        await device.getByText("490154203237518", { exact: true }).waitFor();
        await device.getByLabel("Phone number").fill("+99040401");
        await device.getByRole("button", { name: "Find the device" }).click();
        await device.getByText("IDENTIFIER_NOT_FOUND").waitFor();
        expectNoProblems(loggedIn, refused);
      });

      test("a request is sent next to its program as it is shown, and its response has the headers that are documented", async () => {
        const { page } = loggedIn;
        const operation = page.locator("#listDensityOperations");

        const responding = page.waitForResponse(/\/operations$/);
        await operation.getByRole("button", { name: "Send", exact: true }).first().click();
        const headers = await (await responding).allHeaders();

        await operation.getByText(headers["x-correlator"] ?? "none", { exact: true }).waitFor();
        expect(await operation.locator(".try[open]").count()).toBe(0);
        expectNoProblems(loggedIn, refused);
      });

      test("no button sends a body that is not JSON, and both send any that is", async () => {
        const { page } = loggedIn;
        const operation = page.locator("#retrievePopulationDensity");
        await operation.locator(".try summary").first().click();
        const [above, below] = [0, 1].map((index) =>
          operation.getByRole("button", { name: "Send", exact: true }).nth(index),
        );
        const sent = () =>
          loggedIn.requests.filter(({ url }) => url.endsWith("/retrieve")).map(({ body }) => body);

        await operation.getByLabel("Body").fill("{");
        await above?.click();
        await below?.click();
        await operation.getByText("This is not JSON").waitFor();
        const sentWithoutJson = sent();
        await operation.getByLabel("Body").fill("null");
        await above?.click();
        await operation.locator(".live").getByText(/^400 /).waitFor();

        expect(sentWithoutJson).toEqual([]);
        expect(sent()).toEqual(["null"]);
      });

      test("the reference sends a text in a number field as it was entered, and shows that the API names the field", async () => {
        const { page } = loggedIn;
        const operation = page.locator("#retrieveIdentifier");
        await operation.locator(".try summary").first().click();
        await page.evaluate(
          "for (const one of document.querySelectorAll('#retrieveIdentifier details')) one.open = true",
        );
        await operation.getByLabel("publicAddress").first().fill("84.125.93.10");

        await operation.getByLabel("publicPort").first().fill("abc");
        const response = await sendFrom(page, "retrieveIdentifier");

        expect(response.request().postDataJSON()).toMatchObject({
          device: { ipv4Address: { publicPort: "abc" } },
        });
        expect(response.status()).toBe(400);
        await operation
          .locator(".live")
          .getByText(/publicPort/)
          .first()
          .waitFor();
      });

      test("a double click sends a request once", async () => {
        const { page } = loggedIn;
        const send = page.locator("#createWebhookSecret").getByRole("button", { name: "Send", exact: true });
        const held = Promise.withResolvers<Route>();
        await page.route("**/webhook-secrets", held.resolve, { times: 1 });

        await send.first().dblclick();
        await (await held.promise).continue();
        await page
          .locator("#createWebhookSecret .live")
          .getByText(/^20\d /)
          .waitFor();

        expect(loggedIn.requests.filter(({ url }) => url.endsWith("/webhook-secrets"))).toHaveLength(1);
        expect(await send.first().isEnabled()).toBe(true);
        expectNoProblems(loggedIn, refused);
      });

      test("the reference takes nothing from a response that arrives after a logout, and keeps the next login", async () => {
        const { page } = loggedIn;
        await page.click("#listWebhookSecrets .try summary");
        const held = Promise.withResolvers<Route>();
        await page.route("**/webhook-secrets", held.resolve, { times: 1 });
        await page.click("#listWebhookSecrets .try button.primary");
        const request = await held.promise;
        await page.click("#account button");
        await logInAt(page);

        await request.fulfill({ status: 401, json: { id: "of-the-last-login" } });
        const response = await sendFrom(page, "listWebhookSecrets");

        expect(response.status()).toBe(200);
        expect(await page.locator(".who").count()).toBe(1);
        await page.click("#deleteWebhookSecret .try summary");
        expect(await page.inputValue("#deleteWebhookSecret .try input")).not.toBe("of-the-last-login");
      });

      test("axe-core finds nothing serious in the reference, light and dark, on wide and narrow windows", async () => {
        const { page } = loggedIn;
        await page.click("#getQosProfile .try summary");
        await sendFrom(page, "getQosProfile");
        await page.evaluate(
          "for (const one of document.querySelectorAll('#retrievePopulationDensity details')) one.open = true",
        );

        await expectAccessible(page, "reference");
        expectNoProblems(loggedIn, refused);
      });
    });

    test("the shell programs of the reference work as they are shown, with a login of their own and with that of the page", async () => {
      const opened = await openReference();
      const { page } = opened;
      const first = await page.getByRole("group", { name: "A first request" }).textContent();
      const alone = await shell(first ?? "");
      const signed = await page.textContent("#issueToken .samples pre");
      expect(signed).toContain(`$(node tools/demo/subscriber-token.mjs ${used.service.url})`);
      await logInAt(page);

      const answers = await Promise.all(
        [
          "retrieveQosProfiles",
          "retrievePopulationDensity",
          "checkNumberRecycling",
          "listDensityOperations",
        ].map(async (id) => JSON.parse(await shell(await programOf(page, id)))),
      );

      await page.getByRole("tab", { name: "TypeScript" }).first().click();
      const fromTypeScript = await node(await programOf(page, "checkNumberRecycling"), "program.ts");

      expect(decodeJwt(await node(signed ?? "", "program.mjs", ["tools"]))).toHaveProperty("subscription");
      expect(fromTypeScript).toContain("phoneNumberRecycled: true");
      expect(JSON.parse(alone)).toMatchObject({ name: "QOS_E", status: "ACTIVE" });
      const [profiles, densities, recycling, operations] = answers;
      expect(profiles[0]).toHaveProperty("maxUpstreamRate");
      expect(densities.timedPopulationDensityData[0].cellPopulationDensityData.length).toBeGreaterThan(0);
      expect(recycling).toEqual({ phoneNumberRecycled: true });
      expect(operations).toHaveProperty("operations");
      expectNoProblems(opened);
      await page.context().close();
    });

    test("the reference sends a changed request with the token of the page's login, and forgets both at logout", async () => {
      const opened = await openReference();
      const { page } = opened;
      await logInAt(page);
      await screenshot(page, "reference");
      await page.click("#checkNumberRecycling .try summary");
      await page.locator("#checkNumberRecycling").getByLabel("phoneNumber").fill("+34600000001");
      await page.locator("#checkNumberRecycling").getByLabel("specifiedDate").fill("2025-01-01");
      const response = await sendFrom(page, "checkNumberRecycling");
      const { authorization = "" } = await response.request().allHeaders();
      const token = authorization.replace("Bearer ", "");

      expect(await response.json()).toEqual({ phoneNumberRecycled: false });
      expect(await page.textContent("#checkNumberRecycling .live")).toContain('"phoneNumberRecycled": false');
      expect(await programOf(page, "checkNumberRecycling")).toContain('"specifiedDate": "2025-01-01"');
      expect(token).toMatch(/^ey/);
      expect(await page.content()).toContain(token);
      expect(await page.evaluate("localStorage.length + document.cookie.length")).toBe(0);
      // The same login on the map, without loading the page again.
      await page.click("nav a[data-view=map]");
      await cellsDrawn(page);
      await page.click("nav a[data-view=reference]");
      await page.click("#account button");

      expect(await page.content()).not.toContain(token);
      expect(await page.textContent("#checkNumberRecycling .live")).toBe("");
      expectNoProblems(opened);
      await page.context().close();
    });

    test("the reference sends a request with a token that a client was issued, and asks again about what was answered", async () => {
      const token = await demoClientsToken(used.service, "population-density-data:read");
      const opened = await openReference();
      const { page } = opened;
      await page.click("#account button");
      await page.click("#login summary");
      await page.fill("#login-token", "secret");
      await page.click("#login details button");
      expect(await page.textContent("#login details .problem")).toContain("JWT");
      await page.fill("#login-token", token);
      await page.click("#login details button");
      await page.click("#createWebhookSecret .try summary");

      const created = await (await sendFrom(page, "createWebhookSecret")).json();
      await page.click("#listWebhookSecrets .try summary");
      await sendFrom(page, "listWebhookSecrets");

      expect(await page.textContent("#account")).toContain("demo-client");
      await page.click("#deleteWebhookSecret .try summary");
      expect(await page.inputValue("#deleteWebhookSecret .try input")).toBe(created.id);
      expect((await sendFrom(page, "deleteWebhookSecret")).status()).toBe(200);
      expectNoProblems(opened);
      await page.context().close();
    });
  },
);

/** Logs in where reading needs no login. */
async function logInAt(page: Page): Promise<void> {
  await page.click("#account button");
  await logIn(page);
  await page.waitForSelector(".who", { state: "attached" });
}

/** The program that an operation shows. */
async function programOf(page: Page, operationId: string): Promise<string> {
  return (await page.textContent(`#${operationId} [role=tabpanel]`)) ?? "";
}

/** Sends the request of an operation; returns its response when it is shown. */
async function sendFrom(page: Page, operationId: string) {
  const ofTheApi = /\/(?:deviceidentifier|numberrecycling|populationdensitydata|qualityondemand)\//;
  const responding = page.waitForResponse((response) => ofTheApi.test(response.url()));
  await page.click(`#${operationId} .try button.primary`);
  const response = await responding;
  await page.locator(`#${operationId} .live .sample`).waitFor();
  return response;
}

async function shell(program: string): Promise<string> {
  const { stdout } = await promisify(execFile)("sh", ["-c", program], { timeout: patience });
  return stdout;
}

/** Runs a program with the packages that its first lines install, outside of this project. */
async function node(program: string, name: string, folders: readonly string[] = []): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "program-"));
  try {
    for (const one of ["node_modules", ...folders]) await symlink(resolve(one), join(folder, one));
    await writeFile(join(folder, "package.json"), '{ "type": "module" }');
    await writeFile(join(folder, name), program);
    const { stdout } = await promisify(execFile)(process.execPath, [name], { cwd: folder });
    return stdout;
  } finally {
    await rm(folder, { recursive: true });
  }
}
