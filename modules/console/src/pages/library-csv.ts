// The shown videos as a CSV file, made in the browser.
import type { Entry } from "./library-read";
import { textOf } from "../ui/video";

/** Texts that a spreadsheet would take for a formula get an apostrophe in front. */
function cell(value: string | number | undefined): string {
  if (value === undefined) return "";
  if (typeof value === "number") return String(value);
  const harmless = /^[\s]*[=+\-@\t\r]/u.test(value) ? `'${value}` : value;
  return `"${harmless.replaceAll('"', '""')}"`;
}

export function csvOf(entries: Entry[]): string {
  const head = ["id", "platform", "kind", "handle", "posted_at", "title", "caption", "views", "likes", "comments", "shares", "saves", "archived", "source_url"];
  const rows = entries.map(({ video, archived }) => {
    const posted = video.postedAt;
    return [
      video.id, video.platform, video.source?.kind, video.source?.handle, posted === undefined ? undefined : new Date(posted).toISOString(),
      textOf(video.metadata, "title"), textOf(video.metadata, "caption"), ...(["views", "likes", "comments", "shares", "saves"] as const).map((name) => video.metrics?.[name]),
      archived ? "true" : "false", video.sourceUrl,
    ].map(cell).join(",");
  });
  return [head.join(","), ...rows].join("\r\n") + "\r\n";
}

export function saveCsv(entries: Entry[]): void {
  const address = URL.createObjectURL(new Blob(["\ufeff", csvOf(entries)], { type: "text/csv;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = "scrollery-library.csv";
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
