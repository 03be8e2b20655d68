/** The console in a real browser, for `npm run test:all`. Without a browser these tests are skipped, and say so. */
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { boundsOf } from "../../console/data/cells.ts";
import {
  type AnswerBody,
  type ConsolePage,
  cellsDrawn,
  chromium,
  expectAccessible,
  expectNoProblems,
  hourInAddress,
  isWanted,
  logIn,
  openConsole,
  openForm,
  patience,
  screenshot,
  search,
  seriousFindings,
  showDensities,
  useConsole,
  writeStills,
} from "./console-page.ts";

/** The cells of an answer in the hour that the map shows. */
async function cellsShown(page: Page, answer: AnswerBody) {
  const hour = Number(await page.getAttribute("#map", "data-hour"));
  return answer.features.map(({ properties: { geohash, dataType, pplDensity } }) => ({
    geohash,
    dataType: dataType[hour],
    pplDensity: pplDensity[hour] ?? 0,
  }));
}

/** The cell with the highest density in the hour that the map shows. */
async function densestCell(page: Page, answer: AnswerBody) {
  const cells = await cellsShown(page, answer);
  return cells.reduce((one, other) => (other.pplDensity > one.pplDensity ? other : one));
}

describe.skipIf(chromium === undefined || !isWanted)("the console in a browser", () => {
  const used = useConsole();

  describe("the map", { timeout: 2 * patience }, () => {
    let map: ConsolePage;
    beforeAll(async () => {
      map = await openConsole(used.browser, `${used.service.url}/#from=${hourInAddress(2)}`);
      await logIn(map.page);
      await cellsDrawn(map.page);
      await writeStills(map.page);
    }, 2 * patience);
    afterAll(() => map?.page.context().close());

    test("3D tilts the map with cells as columns, and lays it flat again", async () => {
      const { page } = map;
      const columns = page.getByRole("button", { name: "3D" });
      const expectStillAt = async (pitch: number) => {
        const isStill = `(({ map }) => map.loaded() && !map.isMoving() && map.getPitch())(document.getElementById("map"))`;
        await expect.poll(() => page.evaluate(isStill), { timeout: patience }).toBe(pitch);
      };

      await columns.click();
      await expectStillAt(50);
      await screenshot(page, "console");
      await columns.click();
      await expectStillAt(0);

      expectNoProblems(map);
    });

    test("the map draws the cells of a drawn area as the API answers them", async () => {
      const { page, requests } = map;
      await drawArea(page);

      const answer = await showDensities(page);

      const cells = await cellsShown(page, answer);
      const count = (kind: string) => cells.filter(({ dataType }) => dataType === kind).length;
      expect(answer.intervals).toHaveLength(24);
      expect(count("DENSITY_ESTIMATION")).toBeGreaterThan(20);
      expect(await cellsDrawn(page)).toEqual({
        published: count("DENSITY_ESTIMATION"),
        suppressed: count("LOW_DENSITY"),
        noData: count("NO_DATA"),
      });
      const request = requests.findLast(({ url }) => url.endsWith("/retrieve"));
      expect(JSON.parse(request?.body ?? "{}").area.boundary).toHaveLength(4);
      expectNoProblems(map);
    });

    test("the map shows the API's density of the cell that is chosen with the keyboard", async () => {
      const { page } = map;
      const { geohash, pplDensity } = await densestCell(page, await showDensities(page));

      await page.focus("text=Densest cells");
      await page.keyboard.press("Enter");
      await page.focus(`button.link:has-text("${geohash}")`);
      await page.keyboard.press("Enter");

      expect(await page.textContent("#cell-title code")).toBe(geohash);
      const figure = await page.textContent("#cell .figure");
      expect(figure?.replaceAll(",", "")).toBe(`${pplDensity} people per km²`);
      expect(await page.locator("#cell .chart .line").count()).toBeGreaterThan(0);
      expectNoProblems(map);
    });

    test("the map shows each cell of the hour in one class of ground risk", async () => {
      const { page } = map;
      const cells = await cellsShown(page, await showDensities(page));

      await page.click(".ground-risk summary");
      await page.locator(".ground-risk td").first().waitFor();
      const counts = await page.locator(".ground-risk td:nth-of-type(1)").allTextContents();
      const suppressed = await page
        .locator('.ground-risk tr:has-text("Suppressed") td')
        .first()
        .textContent();

      const numberOf = (text: string | null) => Number(text?.replaceAll(",", "") ?? 0);
      expect(counts.reduce((sum, text) => sum + numberOf(text), 0)).toBe(cells.length);
      const low = cells.filter(({ dataType }) => dataType === "LOW_DENSITY");
      expect(numberOf(suppressed)).toBe(low.length);
      expectNoProblems(map);
    });

    test("the map shows the hour that is chosen with the keyboard, and plays the next ones", async () => {
      const { page } = map;
      await showDensities(page);

      await page.focus("#timeline input");
      for (const key of ["Home", "ArrowRight"]) await page.keyboard.press(key);
      await page.waitForSelector('#map[data-hour="1"]');
      await cellsDrawn(page);
      // In a loop, it plays until it is paused, however late that is.
      await page.getByRole("button", { name: "Loop" }).click();
      await page.click("#timeline .play");
      const hour = async () => Number(await page.getAttribute("#map", "data-hour"));
      await expect.poll(hour, { timeout: patience }).toBeGreaterThanOrEqual(4);
      await page.click("#timeline .play");
      await page.getByRole("button", { name: "Loop" }).click();

      expect(await page.getAttribute("#timeline .play", "aria-label")).toBe("Play the hours");
      expectNoProblems(map);
    });

    test("each of 24 hours that the slider chooses is drawn at most once, and none is asked for", async () => {
      const { page, requests } = map;
      await showDensities(page);
      const before = requests.length;

      const redraws = await page.evaluate<number[]>(redrawsByHour);

      // Two hours of a night can have the same classes in all cells: the second of them is not drawn.
      expect(redraws).toHaveLength(24);
      expect(Math.max(...redraws)).toBe(1);
      // Chromium may ask for the icon of the page again, as its address changes.
      expect(requests.slice(before).filter(({ url }) => !url.includes("/assets/icon-"))).toEqual([]);
      expectNoProblems(map);
    });

    test("the map downloads its answer as GeoJSON and as CSV", async () => {
      const { page } = map;
      const answer = await showDensities(page);
      const cells = answer.features.length;
      const { geohash } = await densestCell(page, answer);

      const geojson = await download(page, "GeoJSON");
      const csv = await download(page, "CSV");

      expect(JSON.parse(geojson).features).toHaveLength(cells);
      expect(csv.trim().split("\r\n")).toHaveLength(1 + 24 * cells);
      for (const file of [geojson, csv]) expect(file).toContain(geohash);
      expectNoProblems(map);
    });

    test("the map shows its request as curl, JavaScript and Python programs without a token", async () => {
      const { page } = map;
      await showDensities(page);
      const programIn = async (language: string) => {
        await page.click(`#request .segments button:has-text("${language}")`);
        return await page.textContent("#request pre");
      };

      await page.click("text=Copy as code");
      const programs = [await programIn("curl"), await programIn("JavaScript"), await programIn("Python")];
      await page.keyboard.press("Escape");

      for (const [index, part] of ["--compressed", "await fetch(", "urllib.request"].entries()) {
        expect(programs[index]).toContain(part);
        expect(programs[index]).not.toContain("eyJ");
      }
      expectNoProblems(map);
    });

    test("the form cancels drawing when an example is chosen, says why a text is refused until the next one is typed, and has no text that is not the area's", async () => {
      const { page } = map;
      await openForm(page);
      await page.click(".where button:has-text('Draw')");
      await page.waitForSelector("#drawing button");

      await page.selectOption("#example", "Part-Dieu station");
      const drawingButtons = await page.locator("#drawing button").count();
      await search(page, "{");
      const problem = await page.textContent(".where > .problem");
      await search(page, "Xyzzy");
      const unknown = await page.textContent(".where > .problem:has-text('Xyzzy')");
      await page.fill("#where", "");

      expect(drawingButtons).toBe(0);
      expect(problem).toContain("This is not JSON");
      expect(unknown).toContain("0 cities found for “Xyzzy”.");
      expect(await page.textContent(".where > .problem")).toBe("");
      await page.fill("#where", "Xyzzy");
      await page.selectOption("#example", "Centre of Lyon");
      expect(await page.inputValue("#where")).toBe("");
      expectNoProblems(map);
    });

    test("the map asks for each polygon of a pasted file, names what it leaves out, and moves a corner by the keyboard", async () => {
      const { page, requests } = map;
      const ring = (longitude: number, latitude: number) => [
        [longitude, latitude],
        [longitude + 0.01, latitude],
        [longitude, latitude + 0.01],
        [longitude, latitude],
      ];
      const coordinates = [[ring(4.82, 45.74), ring(4.822, 45.742)], [ring(4.85, 45.75)]];
      const before = requests.length;
      await search(page, JSON.stringify({ type: "MultiPolygon", coordinates }));
      const note = await page.textContent(".where > .note:has-text('GeoJSON')");
      await page.waitForURL(/#area=4\.82,45\.74,.*;4\.85,45\.75,/);
      await cellsDrawn(page);
      const asked = requests.slice(before).filter(({ url }) => url.endsWith("/retrieve"));

      await search(page, "POLYGON ((4.82 45.74, 4.86 45.74, 4.84 45.76, 4.82 45.74))");
      await page.waitForURL(/#area=4\.82,45\.74,4\.86,45\.74,4\.84,45\.76&/);
      await openForm(page);
      await page.click("text=Move corners");
      await page.focus('.corner[aria-label="Corner 3 of 3"]');
      await screenshot(page, "console-areas");
      for (const key of ["ArrowUp", "Enter"]) await page.keyboard.press(key);
      await showDensities(page);

      expect(note).toContain("Understood as GeoJSON. 2 areas, asked for one by one. A hole is filled in");
      expect(new Set(asked.map(({ body }) => body)).size).toBe(2);
      const [, latitude] = /#area=4.82,45.74,4.86,45.74,4.84,([\d.]+)&/.exec(page.url()) ?? [];
      expect(Number(latitude)).toBeGreaterThan(45.76);
      expectNoProblems(map);
    });

    test("the map says what it understood of QGIS's clipboard, geohashes, coordinates and metres", async () => {
      const { page } = map;
      const noteOn = async (text: string) => {
        const before = await page.textContent(".where > .note");
        await search(page, text);
        await expect.poll(() => page.textContent(".where > .note"), { timeout: patience }).not.toBe(before);
        return await page.textContent(".where > .note");
      };

      const clipboard =
        "wkt_geom\tfid\tname\nPolygon ((4.83 45.75, 4.85 45.75, 4.84 45.77, 4.83 45.75))\t1\tpark (east), old";
      expect(await noteOn(clipboard)).toBe(
        "Understood as a table with WKT in the column wkt_geom, 1 row. A triangle of 1.73 km². Not used: fid, name.",
      );
      expect(await noteOn("45.76, 4.83")).toContain(
        "latitude 45.76, longitude 4.83: the area reaches a kilometre",
      );
      expect(await noteOn("u05km9, u05kq3, u05kqh, u05kqa")).toBe(
        "Understood as 3 geohashes. 3 areas, asked for one by one. " +
          "Left out: u05kqa. A geohash has digits and letters, but no a, i, l, o.",
      );
      expect(await page.textContent(".request .size")).toMatch(/3 requests cost \d+ of the daily quota\.$/);
      expect(
        await noteOn("POLYGON ((842000 6519000, 842100 6519000, 842100 6519100, 842000 6519000))"),
      ).toContain("842000 and 6519000 look like metres of a map projection. The former area stays.");
      expectNoProblems(map);
    });

    test("the map lists the caller's operations", async () => {
      const { page } = map;

      await page.click("text=Your operations");

      await page.waitForSelector(".operations li, .operations p:has-text('There are none')");
      expectNoProblems(map);
    });

    test("a legend that was folded for a card stays open once the user has opened it, until another cell is chosen", async () => {
      const { page } = map;
      const isOpen = async () => (await page.locator("#legend details[open]").count()) === 1;
      const whole = page.viewportSize() ?? { width: 0, height: 0 };
      await openAddress(page, "area=4.82,45.74,4.86,45.77&hours=2&precision=6");
      await page.setViewportSize({ width: 800, height: 720 });
      await page.click("text=Densest cells");
      await page.locator("#panel button.link").first().click();
      const withCard = await isOpen();
      await page.click("#legend summary");
      await page.evaluate("document.getElementById('map').map.panBy([0, 20], { duration: 0 })");
      const afterMove = await isOpen();
      await page.locator("#panel button.link").nth(1).click();
      const withOther = await isOpen();
      await page.keyboard.press("Escape");

      expect({ withCard, afterMove, withOther }).toEqual({
        withCard: false,
        afterMove: true,
        withOther: false,
      });
      expect(await isOpen()).toBe(true);
      await page.setViewportSize(whole);
    });

    test("all of a coarse cell is in view, and the headline is of the area in it; a click on it moves nothing, and an address that cannot be asked shows no earlier answer", async () => {
      const { page } = map;
      await openAddress(page, `area=4.82,45.74,4.86,45.77&from=${hourInAddress(2)}&hours=1&precision=3`);
      const centre = () => page.evaluate("document.getElementById('map').map.getCenter().toArray()");
      const before = await centre();
      const { width = 0 } = (await page.locator(".bar-hour").boundingBox()) ?? {};
      const isInView = `(({ map }) => ${JSON.stringify(corners("u05"))}.every((corner) => map.getBounds().contains(corner)))`;

      expect(await page.evaluate(`${isInView}(document.getElementById("map"))`)).toBe(true);
      expect(await page.textContent("#timeline .total-people")).toMatch(
        /^About [\d,]{5,6} people [\d,]+ per km² All 10\.\d km² have a number; whole cells: \d{3},\d{3}$/,
      );
      expect(width).toBeLessThan(100);
      await page.locator("#map canvas").click();
      await page.waitForSelector("#cell-title code");
      await cellsDrawn(page);
      const after = await centre();
      await page.goto(
        `${used.service.url}/#area=4.83,45.75,4.84,45.76&from=${hourInAddress(-2)}&hours=6&precision=6`,
      );
      await page.waitForSelector('#validation button:has-text("Use the next 6 hours")');

      expect(after).toEqual(before);
      expect(await page.locator("#timeline .people, #published-cells").count()).toBe(0);
      await page.click('#validation button:has-text("Use the next 6 hours")');
      expect((await showDensities(page)).intervals).toHaveLength(6);
      expectNoProblems(map);
    });

    test("the map keeps its answer when the next request is cancelled or fails, and mends one that is too large", async () => {
      const { page } = map;
      const address = `area=4.82,45.74,4.86,45.77&from=${hourInAddress(2)}&hours=6&precision=5`;
      const answer = await openAddress(page, address);

      await openForm(page);
      await page.route("**/retrieve", () => undefined, { times: 1 });
      await page.click("form.request button.primary");
      expect(await page.textContent("#status")).toBe("Asking…");
      await page.click(".progress button");
      expect(await page.evaluate("document.activeElement.textContent")).toBe("Cancelled.");
      expect(await cellsDrawn(page)).toEqual(answer);
      await page.route("**/retrieve", (route) => route.abort());
      await page.click("form.request button.primary");
      await page.waitForSelector(".notice .problem");
      expect(await cellsDrawn(page)).toEqual(answer);
      await page.unroute("**/retrieve");
      await page.click("label[for=precision-7]");
      await page.selectOption("#hours", "168");
      expect(await page.isDisabled("form.request button.primary")).toBe(true);
      await page.click('#validation button:has-text("Use precision 6")');

      expect((await showDensities(page)).intervals).toHaveLength(168);
      expect(page.url()).toContain("&hours=168&precision=6&");
    });
  });

  test("the console shows why a login is refused, which scope it lacks, and lets another account log in", {
    timeout: 2 * patience,
  }, async () => {
    const { page, problems } = await openConsole(used.browser, used.service.url);
    await page.fill("#login-password", "wrong");
    await page.click("#login button");
    await expect.poll(() => page.textContent("#login .problem"), { timeout: patience }).toContain("is wrong");

    await page.fill("#login-email", "qos-only@example.com");
    await page.fill("#login-password", "qos only pass");
    await page.click("#login button");

    await page.waitForSelector("#panel .problem");
    const problem = await page.textContent("#panel .problem");
    expect(problem).toContain("population-density-data:read");
    expect(problem).toContain("Log out, and log in with an account");
    await page.click("#account button");
    await logIn(page);
    await cellsDrawn(page);
    expect(unexpected(problems)).toEqual([]);
    await page.context().close();
  });

  test("the console asks for another login when its token is not accepted", {
    timeout: 2 * patience,
  }, async () => {
    const { page, problems } = await openConsole(used.browser, used.service.url);
    await logIn(page);
    await cellsDrawn(page);
    await page.route("**/retrieve", (route) =>
      route.continue({ headers: { ...route.request().headers(), authorization: "Bearer a.b.c" } }),
    );

    await openForm(page);
    await page.click("form.request button.primary");

    await page.waitForSelector("#login[open]");
    expect(await page.textContent("#login .problem")).toContain("Your session has ended");
    expect(await page.locator("#panel form").count()).toBe(0);
    expect(unexpected(problems)).toEqual([]);
    await page.context().close();
  });

  test("a reload and a second tab show the request and the hour of the address with the same login, until one logs out", {
    timeout: 2 * patience,
  }, async () => {
    const opened = await openConsole(
      used.browser,
      `${used.service.url}/#area=4.82,45.74,4.86,45.77&from=${hourInAddress(2)}&hours=6&precision=6`,
    );
    const { page } = opened;
    await logIn(page);
    await page.waitForURL(/&hour=/);
    await cellsDrawn(page);
    await page.focus("#timeline input");
    await page.keyboard.press("Home");
    const before = page.url();
    await page.keyboard.press("ArrowRight");
    await page.waitForURL((url) => url.href !== before);
    const address = page.url();
    const shown = await cellsDrawn(page);
    const expectSame = async (tab: Page) => {
      await tab.waitForSelector('#map[data-hour="1"]');
      expect(await cellsDrawn(tab)).toEqual(shown);
      expect(tab.url()).toBe(address);
    };

    await page.reload();
    await expectSame(page);
    const second = await page.context().newPage();
    await second.goto(address);
    await expectSame(second);

    await second.click("#account button");
    await page.waitForSelector("#login[open]");
    for (const tab of [page, second]) expect(await tab.evaluate("sessionStorage.length")).toBe(0);
    expectNoProblems(opened);
    await page.context().close();
  });

  test("axe-core finds nothing serious in the login, behind which is a still picture of the demo's map, and on the map, light and dark, on wide and narrow windows", {
    timeout: 4 * patience,
  }, async () => {
    const opened = await openConsole(used.browser, "about:blank");
    const { page } = opened;
    // As `npm start` says it; the first change is to "interactive", before scripts of modules run.
    await page.addInitScript(`document.addEventListener("readystatechange", () => {
      document.querySelector('meta[name="demo-city"]').content = "on";
    }, { once: true })`);
    await page.goto(used.service.url);
    await page.waitForSelector("img.still");
    await expectAccessible(page, "login");
    await page.setViewportSize({ width: 1360, height: 850 });
    await page.emulateMedia({ colorScheme: "dark" });
    await logIn(page);
    await cellsDrawn(page);
    expect(await page.locator("img.still").count()).toBe(0);
    await chooseDensestCell(page);
    await screenshot(page, "console-dark");

    await expectAccessible(page, "map");

    expectNoProblems(opened);
    await page.context().close();
  });

  test("axe-core finds nothing serious on the map of a phone with a touch screen", {
    timeout: 3 * patience,
  }, async () => {
    const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true };
    const opened = await openConsole(used.browser, used.service.url, { ...phone, hasTouch: true });
    const { page } = opened;
    await logIn(page);
    await cellsDrawn(page);
    await chooseDensestCell(page);

    expect(await seriousFindings(page)).toEqual([]);

    expect(await page.evaluate("document.documentElement.scrollWidth > innerWidth")).toBe(false);
    expectNoProblems(opened);
    await page.context().close();
  });
});

/** The south-western and the north-eastern corner of a cell. */
function corners(geohash: string): readonly (readonly number[])[] {
  const { west, south, east, north } = boundsOf(geohash);
  return [
    [west, south],
    [east, north],
  ];
}

/** Runs in the page: how many times the map is drawn for each hour from the last one to the first. */
const redrawsByHour = `(async () => {
  const element = document.getElementById("map");
  const { map } = element;
  const slider = document.querySelector("#timeline input");
  const frame = () => new Promise((resolve) => void requestAnimationFrame(resolve));
  const choose = async (hour) => {
    slider.value = hour;
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    do await frame();
    while (element.dataset.hour !== String(hour) || !map.loaded());
    await frame();
  };
  await choose(0);
  const redraws = [];
  map.on("render", () => redraws[redraws.length - 1]++);
  for (let hour = Number(slider.max); hour >= 0; hour--) {
    redraws.push(0);
    await choose(hour);
  }
  return redraws;
})()`;

/** Opens an address on the page of the map, and waits until its answer is drawn. */
async function openAddress(page: Page, fragment: string) {
  await page.goto(`${new URL(page.url()).origin}/#${fragment}`);
  await page.waitForURL(/&hour=/);
  return await cellsDrawn(page);
}

/** Opens the card of a cell, and returns to the top of the page. */
async function chooseDensestCell(page: Page): Promise<void> {
  await page.focus("text=Densest cells");
  await page.keyboard.press("Enter");
  await page.locator("#panel button.link").first().click();
  await page.evaluate("scrollTo(0, 0)");
}

/** Draws an area of four corners, by a click for each. */
async function drawArea(page: Page): Promise<void> {
  await page.click(".where button:has-text('Draw')");
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
}

async function download(page: Page, format: string): Promise<string> {
  const downloading = page.waitForEvent("download");
  await page.click(`.result button:has-text("${format}")`);
  return readFileSync(await (await downloading).path(), "utf8");
}

/** Problems without the responses 401 and 403, each of which browsers report as an error. */
function unexpected(problems: readonly string[]): string[] {
  return problems.filter((problem) => !/status of 40[13]/.test(problem));
}
