// What was understood of a file: warnings first, then what each column is, then videos.
import type { ImportColumn, ImportFile, ImportReport, ImportedVideo } from "../../gen/scrollery/v1/import_pb";
import type { PreviewImportResponse } from "../../gen/scrollery/v1/imports_service_pb";
import { date, dateTime, number } from "../i18n/format";
import { t, word } from "../i18n/t";
import { Quote } from "../ui/parts";
import { Table } from "../ui/table";

/** The fields that a column can be, in the order of the choice. */
const fields = [
  "externalId", "sourceUrl", "platform", "views", "likes", "comments", "shares", "saves", "followers", "postedAt", "observedAt",
  "handle", "creatorId", "caption", "title", "hashtags", "durationSeconds", "soundTitle", "language", "spoken", "onScreenText",
];
/** Fields of which a report says in how many videos they were found. */
const counted = ["views", "likes", "comments", "postedAt", "handle"];
const platforms = ["tiktok", "instagram", "youtube"];

type Columns = { columns?: Record<string, string>; constants?: Record<string, string>; metadata?: Record<string, string> };

/** The map with another field for a column; an empty one leaves the column out. */
function changed(text: string, column: string, field: string): string {
  const map = JSON.parse(text || "{}") as Columns;
  const columns: Record<string, string> = {};
  for (const [name, of] of Object.entries(map.columns ?? {})) if (of && of !== column && name !== field) columns[name] = of;
  if (field) columns[field] = column;
  return tidy({ ...map, columns });
}

/** The map with a platform for all videos; an empty one is that of the columns. */
function withPlatform(text: string, platform: string): string {
  const map = JSON.parse(text || "{}") as Columns;
  const columns: Record<string, string> = {};
  for (const [name, of] of Object.entries(map.columns ?? {})) if (of) columns[name] = of;
  return tidy({ ...map, columns, constants: { ...map.constants, platform } });
}

function tidy(map: Columns): string {
  const constants: Record<string, string> = {};
  for (const [name, value] of Object.entries(map.constants ?? {})) if (value) constants[name] = value;
  return JSON.stringify({ ...map, constants });
}

type Props = { preview: PreviewImportResponse; name: string; change: (map: string) => void; busy: boolean };

export function ImportPreview({ preview, name, change, busy }: Props) {
  const report = preview.report;
  if (!report) return null;
  const whole = report.files[0];
  return (
    <div class="stack">
      <p class="strong">{t("import.found", { n: report.read, file: name })}{report.formats.length > 0 && ` (${report.formats.map((one) => one.format).join(", ")})`}</p>
      <Warnings report={report} room={preview.room} />
      {report.files.map((file) => <Understood key={file.name} file={file} named={report.files.length > 1} change={file === whole && report.files.length === 1 ? change : undefined} busy={busy} />)}
      {report.countsAt !== undefined && <p class="muted">{t("import.countsAt", { at: dateTime(report.countsAt), n: whole?.countsInFile ?? 0 })}</p>}
      {preview.first.length > 0 && <Table caption={t("import.samples")} captioned rows={preview.first} id={(video) => `${video.platform}${video.externalId}${video.observedAt}`} columns={videoColumns()} />}
    </div>
  );
}

function Warnings({ report, room }: { report: ImportReport; room: number }) {
  const lines: string[] = [];
  if (report.read > room) lines.push(t("import.room", { n: room }));
  for (const skip of report.skipped) {
    const at = skip.firstLine > 0 ? t("import.line", { line: skip.firstLine }) : "";
    lines.push(`${t("import.skipped", { n: skip.count })} ${word("skip", skip.reason)}${at && `, ${at}`}${skip.firstDetail && `: ${skip.firstDetail}`}`);
  }
  for (const file of report.files) {
    for (const one of file.notUnderstood) {
      lines.push(`${t("import.notUnderstood")} ${one.column}${one.line > 0 ? `, ${t("import.line", { line: one.line })}` : ""}: “${one.text}”`);
    }
  }
  for (const one of report.differences) {
    const shown = (value: number) => (one.field === "postedAt" ? date(value) : number(value));
    lines.push(t("import.differs", { id: one.externalId, field: word("field", one.field), read: shown(one.read), known: shown(one.known) }));
  }
  if (report.read > 0 && (report.files[0]?.fields.find((one) => one.field === "views")?.found ?? 0) === 0) lines.unshift(t("import.noViews"));
  if (lines.length === 0) return null;
  return <ul class="problem warnings" aria-label={t("import.warnings")}>{lines.map((line) => <li key={line}><bdi>{line}</bdi></li>)}</ul>;
}

function Understood({ file, named, change, busy }: { file: ImportFile; named: boolean; change?: (map: string) => void; busy: boolean }) {
  const found = counted.map((name) => `${word("field", name)} ${number(Math.min(file.videos, file.fields.find((one) => one.field === name)?.found ?? 0))}`);
  const platform = (JSON.parse(file.map || "{}") as Columns).constants?.platform ?? "";
  return (
    <>
      {named && <p class="strong"><bdi>{file.name}</bdi>: {number(file.videos)}</p>}
      {file.form.length > 0 && <p class="muted" lang="en">{file.form.join(", ")}</p>}
      {file.videos > 0 && <p>{t("import.fields", { n: file.videos })} {found.join(", ")}</p>}
      {file.columns.length > 0 && (
        <Table caption={t("import.columns")} captioned rows={file.columns} id={(column) => column.name} columns={[
          { title: t("import.column"), head: true, cell: (column: ImportColumn) => <bdi>{column.name}</bdi> },
          {
            title: t("import.is"), cell: (column: ImportColumn) => change
              ? <Choice column={column} busy={busy} change={(field) => change(changed(file.map, column.name, field))} />
              : column.field ? word("field", column.field) : t("import.unused"),
          },
          { title: t("import.because"), cell: (column: ImportColumn) => <span class="muted" lang="en">{column.reason}</span> },
        ]} />
      )}
      {file.moreColumns > 0 && <p class="muted">{t("import.moreColumns", { n: file.moreColumns })}</p>}
      {change && file.columns.length > 0 && (
        <label class="row tight">{t("import.platform")}{" "}
          <select value={platform} disabled={busy} onChange={(event) => change(withPlatform(file.map, event.currentTarget.value))}>
            <option value="">{t("import.byColumns")}</option>
            {platforms.map((name) => <option key={name} value={name}>{word("platform", name)}</option>)}
          </select>
        </label>
      )}
    </>
  );
}

function Choice({ column, busy, change }: { column: ImportColumn; busy: boolean; change: (field: string) => void }) {
  const known = column.field === "" || fields.includes(column.field);
  return (
    <select value={column.field} disabled={busy} aria-label={`${t("import.is")}: ${column.name}`} onChange={(event) => change(event.currentTarget.value)}>
      <option value="">{t("import.unused")}</option>
      {!known && <option value={column.field}>{column.field}</option>}
      {fields.map((name) => <option key={name} value={name}>{word("field", name)}</option>)}
    </select>
  );
}

function videoColumns() {
  const count = (value: number | undefined) => (value === undefined ? "–" : number(value));
  return [
    { title: t("table.video"), head: true, cell: (video: ImportedVideo) => <Quote text={video.caption || video.externalId} lines={1} /> },
    { title: t("filter.platform"), cell: (video: ImportedVideo) => word("platform", video.platform) },
    { title: t("table.creator"), cell: (video: ImportedVideo) => <bdi>{video.handle || "–"}</bdi> },
    { title: t("field.postedAt"), cell: (video: ImportedVideo) => (video.postedAt === undefined ? "–" : date(video.postedAt)) },
    { title: t("count.views"), number: true, cell: (video: ImportedVideo) => count(video.views) },
    { title: t("count.likes"), number: true, cell: (video: ImportedVideo) => count(video.likes) },
  ];
}
