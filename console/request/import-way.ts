/** Takes areas as people have them: pasted, from a file, or dropped on the page. */
import { html } from "../dom.ts";

/** Creates the text field and the button for files. @param take is called with what was pasted or read */
export function importWay(take: (texts: readonly string[]) => void): HTMLElement {
  const text = html("textarea", {
    id: "pasted",
    rows: 4,
    spellcheck: "false",
    placeholder: "POLYGON ((4.83 45.75, 4.85 45.75, 4.84 45.77, 4.83 45.75))",
  });
  const readChosen = async () => {
    take(await readFiles([...(files.files ?? [])]));
    files.value = "";
  };
  const files = html("input", {
    type: "file",
    multiple: true,
    hidden: true,
    "aria-label": "Files with areas",
    accept: ".geojson,.geojsonl,.geojsons,.ndjson,.jsonl,.json,.wkt,.csv,.tsv,.txt",
    change: () => void readChosen(),
  });
  return html(
    "div",
    {},
    html(
      "label",
      { for: "pasted" },
      "GeoJSON, WKT, a table with WKT, geohashes, a box, a place, or a request of the API",
    ),
    text,
    html(
      "div",
      { class: "row" },
      html("button", { type: "button", click: () => take([text.value]) }, "Use this"),
      html("button", { type: "button", click: () => files.click() }, "Open a file…"),
    ),
    files,
    html("p", { class: "note" }, "Or drop files anywhere on the page, or paste without clicking here."),
  );
}

/** Calls the listener with texts that are dropped on the page, or pasted where nobody is typing. */
export function onGivenTexts(listener: (texts: readonly string[]) => void): void {
  const setTarget = (isTarget: boolean) => document.body.classList.toggle("is-drop-target", isTarget);
  addEventListener("dragover", (event) => {
    const kinds = event.dataTransfer?.types ?? [];
    if (!kinds.includes("Files") && !kinds.includes("text/plain")) return;
    event.preventDefault();
    setTarget(true);
  });
  addEventListener("dragleave", ({ relatedTarget }) => {
    if (relatedTarget === null) setTarget(false);
  });
  addEventListener("drop", (event) => {
    setTarget(false);
    takeFrom(event, event.dataTransfer);
  });
  addEventListener("paste", (event) => takeFrom(event, event.clipboardData));
  const takeFrom = (event: Event, data: DataTransfer | null) => {
    const files = [...(data?.files ?? [])];
    const text = data?.getData("text/plain") ?? "";
    // A text goes where somebody is typing. A file does not, and browsers would open it instead of the page.
    if (files.length === 0 && (text === "" || isField(event.target))) return;
    event.preventDefault();
    if (files.length > 0) void readFiles(files).then(listener);
    else listener([text]);
  };
}

function isField(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("input, textarea, select, [contenteditable]") !== null;
}

async function readFiles(files: readonly File[]): Promise<string[]> {
  return await Promise.all(files.map((file) => file.text()));
}
