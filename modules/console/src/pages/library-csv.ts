// Videos as a CSV file, made in the browser.
import type { Entry } from "./library-read";
import { textOf } from "../ui/video";

/** Texts that a spreadsheet would take for a formula get an apostrophe in front. */
function cell(value: string | number | undefined): string {
  if (value === undefined) return "";
  if (typeof value === "number") return String(value);
  const harmless = /^[\s]*[=+\-@\t\r]/u.test(value) ? `'${value}` : value;
  return `"${harmless.replaceAll('"', '""')}"`;
}

/** Rows as the text of a file, the head first. */
export const rowsOf = (rows: (string | number | undefined)[][]) => rows.map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";

type Row = { video: Entry["video"]; archived?: boolean };

/** The rows as text; `notes`, by id, are a column of their own if there are any. */
export function csvOf(entries: Row[], notes?: Map<string, string>): string {
  const head = ["id", "platform", "kind", "handle", "posted_at", "title", "caption", "views", "likes", "comments", "shares", "saves", "archived", "source_url", ...(notes ? ["note"] : [])];
  const rows = entries.map(({ video, archived }) => {
    const posted = video.postedAt;
    return [
      video.id, video.platform, video.source?.kind, video.source?.handle, posted === undefined ? undefined : new Date(posted).toISOString(),
      textOf(video.metadata, "title"), textOf(video.metadata, "caption"), ...(["views", "likes", "comments", "shares", "saves"] as const).map((name) => video.metrics?.[name]),
      archived === undefined ? undefined : String(archived), video.sourceUrl, ...(notes ? [notes.get(video.id)] : []),
    ];
  });
  return `${head.join(",")}\r\n${rowsOf(rows)}`;
}

export function saveCsv(entries: Row[], name: string, notes?: Map<string, string>): void {
  saveText(csvOf(entries, notes), name);
}

/** Saves the text of a file of rows. */
export function saveText(text: string, name: string): void {
  const address = URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
