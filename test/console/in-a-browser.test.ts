/** The console in a real browser: a long test, for `npm run test:all`. Without a browser it is skipped, and says so. */
import { readFileSync } from "node:fs";
import axe from "axe-core";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findChromium, startChromium } from "../../tools/chromium.ts";
import { type OwnService, startOwnService } from "../support/own-service.ts";
import { isWhole } from "../support/sample.ts";

const chromium = findChromium();
const drawsScreenshots = process.env.TEST_MODE === "screenshots";
const isWanted = isWhole || drawsScreenshots;
if (isWanted && chromium === undefined) {
  console.warn(
    "SKIPPED: the console was not tested in a browser. Install Chromium, or name it in CHROMIUM_PATH.",
  );
}

/** Generous: the machine may be busy, and draws without graphics hardware. How fast it is, is measured by a bench. */
const patience = 120_000;

/** Where the console is: a service of its own, as other tests store densities in places where the demo has none. */
let url = "";

/** What a page must never do, collected while it runs. */
interface Watched {
  readonly page: Page;
  readonly problems: string[];
  readonly requests: { readonly url: string; readonly body: string | null }[];
}

async function open(browser: Browser, path: string, options: BrowserContextOptions = {}): Promise<Watched> {
  const context = await browser.newContext({ viewport: { width: 1360, height: 850 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(patience);
  const problems: string[] = [];
  const requests: { url: string; body: string | null }[] = [];
  page.on("console", (message) => {
    if (
      ["error", "warning"].includes(message.type()) &&
      !/GL Driver Message|swiftshader/i.test(message.text())
    ) {
      problems.push(message.text());
    }
  });
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("request", (request) => requests.push({ url: request.url(), body: request.postData() }));
  await page.goto(`${url}${path}`);
  return { page, problems, requests };
}

async function logIn(page: Page): Promise<void> {
  await page.fill("#login-email", "app@example.com");
  await page.fill("#login-password", "correct horse battery staple");
  await page.click("#login button");
  await page.waitForSelector("#account button");
}

/** Cells by what is known of them. */
interface CellCounts {
  readonly published: number;
  readonly suppressed: number;
  readonly noData: number;
}

/** Waits until as many cells of each kind are drawn as the panel says; the map counts what it has drawn. */
async function cellsDrawn(page: Page): Promise<CellCounts> {
  await page.waitForSelector("#published-cells");
  const read = async (): Promise<readonly [drawn: CellCounts, said: CellCounts]> =>
    await page.evaluate(`(() => {
      const { colouredCells, suppressedCells, noDataCells } = document.getElementById("map").dataset;
      const said = (id) => Number(document.getElementById(id).textContent.replaceAll(",", ""));
      return [
        { published: Number(colouredCells), suppressed: Number(suppressedCells), noData: Number(noDataCells) },
        { published: said("published-cells"), suppressed: said("suppressed-cells"), noData: said("no-data-cells") },
      ];
    })()`);
  await expect
    .poll(
      async () => {
        const [drawn, said] = await read();
        const [ofMap, ofPanel] = [JSON.stringify(drawn), JSON.stringify(said)];
        return ofMap === ofPanel ? "as said" : `drawn: ${ofMap}, said: ${ofPanel}`;
      },
      { timeout: 60_000, interval: 200 },
    )
    .toBe("as said");
  return (await read())[0];
}

/** The serious and critical findings of axe-core. */
async function findings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  return await page.evaluate(`axe.run().then(({ violations }) => violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ": " + target.join(" "))))`);
}

async function screenshot(page: Page, name: string): Promise<void> {
  if (drawsScreenshots) await page.screenshot({ path: `docs/images/${name}.png` });
}

function expectCalm({ problems, requests }: Watched): void {
  expect(problems).toEqual([]);
  const elsewhere = requests.filter(
    (request) => !/^(?:blob|data):/.test(request.url) && !request.url.startsWith(`${url}/`),
  );
  expect(elsewhere).toEqual([]);
}

interface Body {
  readonly timedPopulationDensityData: readonly {
    readonly cellPopulationDensityData: readonly {
      readonly geohash: string;
      readonly dataType: string;
      readonly pplDensity?: number;
    }[];
  }[];
}

describe.skipIf(chromium === undefined || !isWanted)("the console in a browser", () => {
  let browser: Browser;
  let service: OwnService;
  beforeAll(async () => {
    service = await startOwnService({}, { hasDemoData: true });
    url = service.url;
    browser = await startChromium(chromium ?? "");
  }, patience);
  afterAll(async () => {
    await browser?.close();
    await service?.close();
  });

  test("shows an area as the API answers it: log in, draw, play, look at a cell, copy, list operations", {
    timeout: 3 * patience,
  }, async () => {
    const watched = await open(browser, "/");
    const { page, requests } = watched;
    await logIn(page);
    await cellsDrawn(page);
    await screenshot(page, "console");

    // Draw: a click for each corner.
    await page.click("label[for=way-Draw]");
    const box = await page.locator("#map canvas").boundingBox();
    if (box === null) throw new Error("there is no map");
    for (const [x, y] of [
      [0.4, 0.25],
      [0.62, 0.3],
      [0.55, 0.55],
      [0.42, 0.5],
    ] as const) {
      await page.mouse.click(box.x + box.width * x, box.y + box.height * y);
      // Two clicks in short order are a double click, which finishes.
      await page.waitForTimeout(400);
    }
    await page.click("#drawing button.primary");
    const answered = page.waitForResponse((response) =>
      response.url().endsWith("/populationdensitydata/retrieve"),
    );
    await page.click("form.request button.primary");
    const answer = (await (await answered).json()) as Body;
    const [first] = answer.timedPopulationDensityData;
    const kinds = (kind: string) =>
      first?.cellPopulationDensityData.filter(({ dataType }) => dataType === kind).length ?? 0;
    expect(answer.timedPopulationDensityData).toHaveLength(24);
    expect(kinds("DENSITY_ESTIMATION")).toBeGreaterThan(20);
    expect(await cellsDrawn(page)).toEqual({
      published: kinds("DENSITY_ESTIMATION"),
      suppressed: kinds("LOW_DENSITY"),
      noData: kinds("NO_DATA"),
    });
    const sent = JSON.parse(requests.findLast(({ url: to }) => to.endsWith("/retrieve"))?.body ?? "{}");
    expect(sent.area.boundary).toHaveLength(4);

    // A cell, by the keyboard: its value is the API's.
    const densest = first?.cellPopulationDensityData.reduce((one, other) =>
      (other.pplDensity ?? 0) > (one.pplDensity ?? 0) ? other : one,
    );
    await page.focus("text=Densest cells");
    await page.keyboard.press("Enter");
    await page.focus(`button.link:has-text("${densest?.geohash}")`);
    await page.keyboard.press("Enter");
    expect(await page.textContent("#cell-title code")).toBe(densest?.geohash);
    expect((await page.textContent("#cell .figure"))?.replaceAll(",", "")).toBe(
      `${densest?.pplDensity} people per km²`,
    );
    expect(await page.locator("#cell .chart .line").count()).toBeGreaterThan(0);

    // The hours, by the keyboard and by playing.
    await page.focus("#timeline input");
    await page.keyboard.press("ArrowRight");
    await page.waitForSelector('#map[data-hour="1"]');
    await cellsDrawn(page);
    await page.click("#timeline .play");
    await page.waitForSelector('#map[data-hour="4"]');
    await page.click("#timeline .play");
    expect(await page.getAttribute("#timeline .play", "aria-label")).toBe("Play the hours");

    // Files of the same answer.
    for (const format of ["GeoJSON", "CSV"]) {
      const downloading = page.waitForEvent("download");
      await page.click(`.result button:has-text("${format}")`);
      const path = await (await downloading).path();
      const text = readFileSync(path, "utf8");
      const cells = first?.cellPopulationDensityData.length ?? 0;
      if (format === "GeoJSON") expect(JSON.parse(text).features).toHaveLength(cells);
      else expect(text.trim().split("\r\n")).toHaveLength(1 + 24 * cells);
      expect(text).toContain(densest?.geohash);
    }

    // The request as a program, and the operations.
    await page.click("text=Copy as code");
    for (const [language, part] of [
      ["curl", "curl --compressed"],
      ["JavaScript", "await fetch("],
      ["Python", "urllib.request"],
    ]) {
      await page.click(`#request .segments button:has-text("${language}")`);
      expect(await page.textContent("#request pre")).toContain(part);
    }
    expect(await page.textContent("#request pre")).not.toContain("eyJ");
    await page.keyboard.press("Escape");
    await page.click("text=Your operations");
    await page.waitForSelector(".operations li, .operations p:has-text('There are none')");
    expectCalm(watched);
    await page.context().close();
  });

  test("shows what the API says of an error, and asks for a login again when the token is not accepted", {
    timeout: 2 * patience,
  }, async () => {
    const watched = await open(browser, "/");
    const { page, problems } = watched;
    await page.fill("#login-password", "wrong");
    await page.click("#login button");
    await expect.poll(() => page.textContent("#login .problem"), { timeout: patience }).toContain("invalid");
    await page.fill("#login-email", "qos-only@example.com");
    await page.fill("#login-password", "qos only pass");
    await page.click("#login button");
    await page.waitForSelector("#panel .problem");
    expect(await page.textContent("#panel .problem")).toContain("population-density-data:read");
    expect(await page.textContent("#panel .problem")).toContain("Log out, and log in with an account");
    await page.click("#account button");
    await logIn(page);
    await cellsDrawn(page);
    await page.click("label[for=way-Draw]");
    await page.waitForSelector("#drawing button");
    await page.click("label[for=way-Paste]");
    expect(await page.locator("#drawing button").count()).toBe(0);
    await page.fill("#pasted", "{");
    await page.click("text=Use this area");
    expect(await page.textContent(".request .problem")).toContain("This is not JSON");
    await page.click("label[for=way-Example]");
    expect(await page.locator(".request .problem").count()).toBe(0);
    // As if it had expired.
    await page.route("**/retrieve", (route) =>
      route.continue({ headers: { ...route.request().headers(), authorization: "Bearer a.b.c" } }),
    );
    await page.click("form.request button.primary");
    await page.waitForSelector("#login[open]");
    expect(await page.textContent("#login .problem")).toContain("Your session has ended");
    expect(await page.locator("#panel form").count()).toBe(0);
    // Browsers report each response that is an error.
    expect(problems.filter((problem) => !/status of 40[13]/.test(problem))).toEqual([]);
    await page.context().close();
  });

  test("tries the reference with the token of the page's login, which no store keeps", {
    timeout: 2 * patience,
  }, async () => {
    const watched = await open(browser, "/reference");
    const { page } = watched;
    await logIn(page);
    await page.locator(".opblock").first().waitFor();
    await screenshot(page, "reference");
    const operation = page.locator("#operations-qos-profiles-getQosProfile, [id$=getQosProfile]").first();
    await operation.locator(".opblock-summary-control").click();
    await operation.locator("input").first().fill("QOS_E");
    const answered = page.waitForResponse((response) =>
      response.url().endsWith("/qualityondemand/qos-profiles/QOS_E"),
    );
    await operation.locator("button.execute").click();
    expect((await answered).status()).toBe(200);
    await operation.locator(".live-responses-table .response-col_status").first().waitFor();
    expect(await page.evaluate("localStorage.length + sessionStorage.length + document.cookie.length")).toBe(
      0,
    );

    // The same login on the map, without loading the page again.
    await page.click("nav a[data-view=map]");
    await cellsDrawn(page);

    // Whoever logs in next sees neither the token nor the answer.
    const { authorization = "" } = await (await answered).request().allHeaders();
    const token = authorization.replace("Bearer ", "");
    expect(token).toMatch(/^ey/);
    expect(await page.content()).toContain(token);
    await page.click("#account button");
    await page.waitForSelector("#login-email");
    expect(await page.content()).not.toContain(token);
    expect(await page.locator("#reference .live-responses-table").count()).toBe(0);
    expectCalm(watched);
    await page.context().close();
  });

  describe.each([
    ["light", {}],
    ["dark", { colorScheme: "dark" as const }],
    [
      "phone",
      { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true },
    ],
  ])("%s", (name, options) => {
    test("has no serious finding of axe-core on any view", { timeout: 3 * patience }, async () => {
      const watched = await open(browser, "/", options);
      const { page } = watched;
      const found: Record<string, string[]> = { login: await findings(page) };
      await logIn(page);
      await cellsDrawn(page);
      await page.focus("text=Densest cells");
      await page.keyboard.press("Enter");
      await page.locator("#panel button.link").first().click();
      await page.evaluate("scrollTo(0, 0)");
      if (name !== "light") await screenshot(page, `console-${name}`);
      found.map = await findings(page);
      expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
      await page.click("nav a[data-view=reference]");
      await page.locator(".opblock").first().waitFor();
      await page.locator(".opblock-summary-control").nth(1).click();
      found.reference = await findings(page);
      expect(found).toEqual({ login: [], map: [], reference: [] });
      expectCalm(watched);
      await page.context().close();
    });
  });
});
