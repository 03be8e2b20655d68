/** What people do on the map beyond asking and looking, in a real browser, for `npm run test:all`. */
import { readFile } from "node:fs/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { unreachableSink } from "../../shared/sandbox/sinks.ts";
import { number, query, time } from "../support/duckdb.ts";
import {
  type ConsolePage,
  cellsDrawn,
  expectNoProblems,
  hourInAddress,
  isTested,
  logIn,
  openConsole,
  openForm,
  patience,
  search,
  useConsole,
} from "./console-page.ts";

describe.skipIf(!isTested)("stories of the map", { timeout: 2 * patience }, () => {
  const used = useConsole();
  let map: ConsolePage;
  beforeAll(async () => {
    map = await openConsole(used.browser, `${used.service.url}/#from=${hourInAddress(2)}`);
    await logIn(map.page);
    await cellsDrawn(map.page);
  }, 2 * patience);

  test.each([-3, 3])(
    "a machine whose clock is %d h ahead shows densities at once, and again after a reload",
    async (ahead) => {
      const { page, problems } = await openConsole(used.browser, "about:blank");
      await page.clock.setSystemTime(Date.now() + ahead * 3_600_000);
      await page.goto(used.service.url);
      await logIn(page);
      await cellsDrawn(page);

      await page.reload();

      await cellsDrawn(page);
      expect(problems).toEqual([]);
      await page.context().close();
    },
  );

  test("times are in the zone of the data, and in UTC once that is chosen", async () => {
    const { page } = map;
    const hour = page.locator("#timeline .headline");
    const before = await hour.textContent();
    const from = await page.inputValue("#from");

    await page.getByLabel("Time zone").selectOption("utc");

    expect(before).toMatch(/CES?T/);
    expect(await hour.textContent()).toContain("UTC");
    // The field of the form has the same moment in the other zone, so that the request is still the one on view.
    expect(await page.inputValue("#from")).not.toBe(from);
    expect(await page.locator(".result[inert]").count()).toBe(0);
    await page.getByLabel("Time zone").selectOption("data");
    expectNoProblems(map);
  });

  test("the Parquet file of the map has the rows that the API answers", async () => {
    const { page } = map;
    const asking = page.waitForRequest((request) => request.headers().accept === "application/x-ndjson");
    const downloading = page.waitForEvent("download");

    await page.getByRole("button", { name: "Parquet", exact: true }).click();

    const request = await asking;
    const { accept = "", authorization = "" } = await request.allHeaders();
    const headers = { accept, authorization, "content-type": "application/json" };
    const answer = await fetch(request.url(), { method: "POST", headers, body: request.postData() });
    const lines = (await answer.text()).trimEnd().split("\n");
    const downloaded = await downloading;
    const file = await downloaded.path();
    const rows = await query(
      `SELECT geohash, ${time("startTime")}, ${time("endTime")}, dataType, ${number("pplDensity")},
        ${number("minPplDensity")}, ${number("maxPplDensity")}, coveredShare, basis FROM read_parquet('${file}')`,
    );
    expect(downloaded.suggestedFilename()).toMatch(
      /^densities-centre-of-lyon-\d{4}-\d\d-\d\dT\d\dZ-24h-precision-\d\.parquet$/,
    );
    expect(lines.length).toBeGreaterThan(10);
    expect(rows).toEqual(lines.map((line) => JSON.parse(line)));
    expectNoProblems(map);
  });

  test("compared with the hour on view, the hour half a day later shows how many people more or fewer there are", async () => {
    const { page } = map;
    const hour = page.getByRole("slider", { name: "Hour" });
    await hour.fill("0");

    await page.getByRole("button", { name: "Compare" }).click();
    await hour.fill("12");

    expect(await page.textContent("#timeline .people")).toMatch(/^[+−][\d,]+ people$/);
    expect(await page.textContent("#timeline .total-people")).toMatch(
      /in [\d,]+ cells published in both hours$/,
    );
    expect(await page.textContent("#legend h2")).toBe("More or fewer people per km²");
    expect(await page.textContent("#legend .zero")).toBe("0");
    await page.getByRole("button", { name: "Compare" }).click();
    expectNoProblems(map);
  });

  test("the first 08:00 of the period is shown, and a day of the week and an hour are picked in two actions", async () => {
    const opened = await openConsole(used.browser, used.service.url);
    const { page } = opened;
    await logIn(page);
    await cellsDrawn(page);
    const headline = page.locator("#timeline .headline");
    const first = await headline.textContent();
    const day = /Sat/.test(first ?? "") ? "Wednesday" : "Saturday";

    await page.getByLabel("Day of the week").selectOption(day);
    await headline.getByText(`typical ${day}`).waitFor();
    await page.getByLabel("Hour of the day").selectOption("09:00");

    expect(first).toContain("08:00–09:00");
    expect(await headline.textContent()).toContain("09:00–10:00");
    expect(page.url()).toMatch(/&hours=24&precision=7&hour=/);
    expectNoProblems(opened);
    await page.context().close();
  });

  test("another example dims the numbers of the former one, until its own are there without a click", async () => {
    const { page } = map;
    const before = await page.textContent("#timeline .people");
    await openForm(page);

    await page.getByLabel("Example", { exact: true }).last().selectOption("Part-Dieu station");

    expect(await page.locator(".result[inert]").count()).toBe(1);
    expect(await page.textContent(".notice")).toContain("These numbers are of the request before.");
    await page.waitForSelector(".result:not([inert])");
    expect(await page.textContent("#timeline .people")).not.toBe(before);
    expectNoProblems(map);
  });

  test("a search for a city that is not covered dims the former numbers until “Show what is covered” is clicked", async () => {
    const { page } = map;

    await search(page, "nairobi, kenya");
    await page.waitForSelector("#validation .problem");
    const refusal = await page.textContent(".where");
    const dimmed = await page.locator(".is-outdated .result[inert]").count();
    const zoom = () =>
      page.evaluate(
        "(({ map }) => map.isMoving() ? undefined : map.getZoom())(document.getElementById('map'))",
      );
    await expect.poll(zoom, { timeout: patience }).toBeCloseTo(9);
    await page.getByRole("button", { name: "Show what is covered" }).click();

    expect(refusal).toContain("Nairobi: 3 km × 3 km around its middle.Nothing of this is covered.");
    expect(refusal).toContain('npm start -- --around "Nairobi" covers another place');
    expect(dimmed).toBe(1);
    expect(await page.locator(".is-outdated, .result[inert]").count()).toBe(0);
    expectNoProblems(map);
  });

  test("a search for a covered city, typed without accents, asks for its densities at once", async () => {
    const { page } = map;

    await search(page, "HOTEL DE VILLE");

    await page.waitForSelector(".where > .note:has-text('Hôtel de Ville')");
    await page.waitForURL(/#area=4\.8[12]\d*,45\.7\d*,/);
    await page.waitForSelector(".result:not([inert])");
    expectNoProblems(map);
  });

  test("after a click on “Swap latitude and longitude”, the page asks for the area with its coordinates exchanged", async () => {
    const { page } = map;

    await search(page, "POLYGON ((45.74 4.82, 45.74 4.83, 45.75 4.825, 45.74 4.82))");
    await page.getByRole("button", { name: "Swap latitude and longitude" }).click();

    await page.waitForURL(/#area=4\.82,45\.74,4\.83,45\.74,/);
    expectNoProblems(map);
  });

  test("an answer is delivered, delivered again, and its delivery cancelled, and the list says so by itself", async () => {
    const { page } = map;
    const inState = (state: string) => page.locator(".operations li", { hasText: state });
    await page.getByText("Your operations").click();
    const order = page.getByRole("button", { name: "Deliver to this sink" });

    await order.click();
    await inState("DELIVERED").getByRole("button", { name: "Deliver again" }).click();
    await inState("DELIVERED").nth(1).waitFor();
    await page.getByLabel("Sink").fill(unreachableSink);
    await order.click();
    const failing = inState("PENDING").filter({ hasText: "the sink did not answer" });
    const id = await failing.locator("code").textContent();
    await failing.getByRole("button", { name: "Cancel" }).click();
    await inState("CANCELLED")
      .filter({ hasText: id ?? "" })
      .waitFor();

    expectNoProblems(map);
  });

  test("an operation that failed because its answer could not be computed says so once", async () => {
    const { page } = map;
    const failed = { state: "FAILED", attempts: 1, lastAttempt: { outcome: "NOT_COMPUTED" } };
    const listed = { operationId: "1", requestedAt: new Date().toISOString(), cells: 9, intervals: 2 };
    const operations = [{ ...listed, ...failed, failureReason: "NOT_COMPUTED" }];
    await page.route(/\/operations\b/, (route) => route.fulfill({ json: { operations } }), { times: 1 });
    const panel = page.locator("details", { hasText: "Your operations" });
    if ((await panel.getAttribute("open")) !== null) await page.getByText("Your operations").click();

    await page.getByText("Your operations").click();

    const item = panel.locator("li", { hasText: "FAILED" });
    await item.waitFor();
    expect((await item.locator(".note").allTextContents()).join("; ")).toBe(
      "9 cells × 2 hours, 1 attempt; The answer could not be computed.",
    );
    expectNoProblems(map);
  });

  test("the map downloads the cells of an hour as GeoJSON with plain numbers, and its picture as PNG", async () => {
    const { page } = map;
    const download = async (name: string) => {
      const downloading = page.waitForEvent("download");
      await page.getByRole("button", { name, exact: true }).click();
      const file = await downloading;
      names.push(file.suggestedFilename());
      return await readFile(await file.path());
    };
    const names: string[] = [];

    await download("GeoJSON");
    const byHour = JSON.parse((await download("GeoJSON by hour")).toString());
    const picture = await download("PNG");

    expect(byHour.features[0].properties.pplDensity).toBeTypeOf("number");
    expect(picture.subarray(1, 4).toString()).toBe("PNG");
    expect(names).toEqual([
      expect.stringMatching(/^densities-.+T\d\dZ-24h-precision-\d-by-cell\.geojson$/),
      expect.stringMatching(/^densities-.+T\d\dZ-24h-precision-\d-by-hour\.geojson$/),
      expect.stringMatching(/^densities-.+T\d\dZ-precision-\d\.png$/),
    ]);
    expectNoProblems(map);
  });

  test("printing from the dark theme makes one light page that has place, hour, sources, map, legend and numbers, but no buttons", async () => {
    const { page } = map;
    await page.emulateMedia({ media: "print", colorScheme: "dark" });

    await page.evaluate('dispatchEvent(new Event("beforeprint"))');

    const corner = `(() => {
      const canvas = document.querySelector(".printed-map canvas");
      return [...canvas.getContext("2d").getImageData(2, canvas.height - 2, 1, 1).data];
    })()`;
    expect(await page.locator(".printed-map").isVisible()).toBe(true);
    for (const channel of await page.evaluate<number[]>(corner)) expect(channel).toBeGreaterThan(150);
    for (const coloured of ["#legend .colour", "#timeline .bar-hour"]) {
      const isPrinted = `getComputedStyle(document.querySelector("${coloured}")).printColorAdjust`;
      expect(await page.evaluate(isPrinted)).toBe("exact");
    }
    expect(await page.getByRole("heading", { name: "People per km²" }).isVisible()).toBe(true);
    expect(await page.getByRole("heading", { name: "Population density" }).isVisible()).toBe(true);
    expect(await page.innerText("#paper-heading")).toMatch(
      /^Area\s+.+, [\d.]+ km²\s+Cells\s+.+\s+Hour\s+\d{4}-\d\d-\d\d, .+\s+Sources\s+The numbers are from “A model of Lyon[\s\S]+\s+Printed\s+\d{4}-/,
    );
    const pressed = ["button", "slider", "searchbox", "textbox", "combobox", "radio"] as const;
    for (const role of pressed) expect(await page.getByRole(role).count()).toBe(0);
    await page.evaluate('dispatchEvent(new Event("afterprint"))');
    for (const landscape of [false, true]) {
      const paper = (await page.pdf({ format: "A4", landscape })).toString("latin1");
      expect(paper.match(/\/Type\s*\/Page\b/g)).toHaveLength(1);
    }
    await page.emulateMedia({ media: "screen", colorScheme: "light" });
    expectNoProblems(map);
  });

  test("a click on the link of the current view keeps the page, its address and its answer", async () => {
    const { page } = map;
    const address = page.url();
    await page.evaluate("window.isSamePage = true");

    await page.click("a.brand");
    await page.click("nav a[data-view=map]");
    const afterMap = page.url();
    await page.click("nav a[data-view=reference]");
    await page.locator(".contents-list a[href$='#getQosProfile']").first().click();
    await page.click("nav a[data-view=reference]");
    const afterReference = page.url();
    await page.click("nav a[data-view=map]");

    expect(address).toContain("#area=");
    expect([afterMap, page.url()]).toEqual([address, address]);
    expect(afterReference).toMatch(/\/reference#getQosProfile$/);
    expect(await page.evaluate("window.isSamePage")).toBe(true);
    await cellsDrawn(page);
    expectNoProblems(map);
  });

  test("a request that is refused for too many is asked again after its Retry-After", async () => {
    const { page } = map;
    await page.route(
      "**/retrieve",
      (route) => route.fulfill({ status: 429, headers: { "retry-after": "1" } }),
      {
        times: 1,
      },
    );
    await openForm(page);
    // The text stands for a second only: all that the notice says is kept.
    await page.evaluate(`window.said = [];
      const notice = document.querySelector(".notice");
      new MutationObserver(() => said.push(notice.textContent)).observe(notice, { childList: true, subtree: true });`);

    await page.click("form.request button.primary");

    await page.waitForSelector(".request-fold:not([open])");
    const refusal = expect.stringContaining("Too many requests: asking again in 1 second.");
    expect(await page.evaluate("said")).toContainEqual(refusal);
  });

  test("on a phone, the header is one row, the legend is below the map, a tapped cell's card is in view and never under the tooltip, and a tap at the map's edge adds a corner while somebody draws", async () => {
    const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
    const opened = await openConsole(used.browser, used.service.url, phone);
    const { page } = opened;
    await logIn(page);
    await cellsDrawn(page);
    const boxOf = async (selector: string) =>
      await page.locator(selector).evaluate((element) => element.getBoundingClientRect().toJSON());
    expect((await boxOf("header")).height).toBeLessThan(60);
    expect((await boxOf("#legend")).top).toBeGreaterThanOrEqual((await boxOf("#map")).bottom);
    await page.locator("#map canvas").tap();
    const card = await boxOf(".cell");
    expect(Math.floor(card.bottom)).toBeLessThanOrEqual(phone.viewport.height);
    await page.mouse.move(card.left + 200, card.top - 2);
    if (await page.locator(".tooltip:visible").count()) {
      expect((await boxOf(".tooltip")).bottom).toBeLessThanOrEqual((await boxOf(".cell")).top);
    }

    await page.getByRole("button", { name: "Draw", exact: true }).tap();

    await page.getByText("Click or tap the corners of an area.").waitFor();
    const box = await page.locator("#map canvas").boundingBox();
    await page.touchscreen.tap((box?.x ?? 0) + 60, (box?.y ?? 0) + (box?.height ?? 0) - 60);
    await page.getByText("1 of at most 15 corners.").waitFor();
    expectNoProblems(opened);
    await page.context().close();
  });

  test("several covered regions are on a small map, are asked for together by a click, and have a time zone of their own", async () => {
    const opened = await openConsole(used.browser, used.service.url);
    const { page } = opened;
    await page.route("**/capabilities", async (route) => {
      const response = await route.fetch();
      const square = (west: number) => [
        [
          [west, 45.74],
          [west + 0.01, 45.74],
          [west + 0.01, 45.75],
          [west, 45.75],
          [west, 45.74],
        ],
      ];
      const coverage = { type: "MultiPolygon", coordinates: [square(4.82), square(4.85)] };
      const { coverage: whole, typicalWeek, ...others } = await response.json();
      const elsewhere = { ...typicalWeek, timeZone: "Pacific/Fiji" };
      const json = { ...others, coverage: { ...whole, ...coverage }, typicalWeek: elsewhere };
      await route.fulfill({ response, json });
    });
    await logIn(page);
    await cellsDrawn(page);

    await page.getByRole("button", { name: "Ask for all of them" }).click();

    await page.waitForURL(/#area=4\.82,45\.74,[^&]*;4\.85,45\.74,/);
    await expect
      .poll(() => page.locator(".overview .land").getAttribute("d"), { timeout: patience })
      .toMatch(/^M/);
    await page.getByText(/Clocks here are 1[01] hours behind it \(Europe\/Paris\)\./).waitFor();
    expectNoProblems(opened);
    await page.context().close();
  });

  test("a part that cannot be loaded says so, and appears once it is tried again", async () => {
    const { page } = await openConsole(used.browser, used.service.url);
    await page.route("**/assets/reference-*.js", (route) => route.abort(), { times: 1 });

    await page.getByRole("link", { name: "Read the reference" }).click();

    await page.getByText("A part of this page could not be loaded.").waitFor();
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("searchbox", { name: "Search the reference" }).waitFor();
    await page.context().close();
  });

  test("“Try again” reloads the page and shows a part whose script failed twice", async () => {
    const { page } = await openConsole(used.browser, used.service.url);
    // Some browsers keep that a part failed: trying again fails, too.
    await page.route("**/assets/reference-*.js", (route) => route.abort(), { times: 2 });

    await page.getByRole("link", { name: "Read the reference" }).click();
    await page.getByRole("button", { name: "Try again" }).click();

    await page.getByRole("searchbox", { name: "Search the reference" }).waitFor();
    await page.context().close();
  });

  test("an open page whose files are gone after a deployment loads itself again, once", async () => {
    const { page } = await openConsole(used.browser, used.service.url);
    const isPage = (url: URL) => url.pathname === "/";
    await page.route("**/assets/reference-*.js", (route) => route.abort());
    await page.route(isPage, (route) =>
      route.fulfill({ body: '<script type="module" src="assets/main-next.js"></script>' }),
    );
    const loading = page.waitForEvent("load");

    await page.getByRole("link", { name: "Read the reference" }).click();
    await loading;

    // The files of this page are gone, too: it is not loaded again and again.
    await page.getByText("A part of this page could not be loaded.").waitFor();
    await page.unrouteAll();
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("searchbox", { name: "Search the reference" }).waitFor();
    await page.context().close();
  });
});
