// Importing a file: drop it, see what was understood, then follow the import to the lists.
import { useEffect, useState } from "preact/hooks";
import type { Import } from "../../gen/scrollery/v1/import_pb";
import type { PreviewImportResponse } from "../../gen/scrollery/v1/imports_service_pb";
import { allow, api, sleep } from "../api/client";
import { more } from "../api/more";
import { Failure, problemOf, type Problem } from "../api/problem";
import { useAction } from "../api/query";
import { researchScopes } from "../api/session";
import { number } from "../i18n/format";
import { t } from "../i18n/t";
import { announce } from "../shell/announce";
import { to } from "../shell/router";
import { Input } from "../ui/input";
import { Button, Card, Field, Link, Progress } from "../ui/parts";
import { ProblemView } from "../ui/states";
import { ImportPreview } from "./import-preview";

/** What a call of the page can take, in bytes; the command line takes more. */
const mostBytes = 11 << 20;
/** Smaller files are sent as they are. */
const packFrom = 1 << 20;

type Sent = { file: Uint8Array; name: string; observedAt: number | undefined };

/** Reads a file, packed by gzip if that makes it smaller to send. */
async function read(file: File): Promise<Sent> {
  const observedAt = file.lastModified > Date.UTC(2000) && file.lastModified < Date.now() ? file.lastModified : undefined;
  const packed = /\.(gz|zip|xlsx|xlsm)$/i.test(file.name);
  const name = file.name.slice(-190);
  if (packed || file.size < packFrom) {
    if (file.size > mostBytes) throw tooLarge();
    return { file: new Uint8Array(await file.arrayBuffer()), name, observedAt };
  }
  const stream = file.stream().pipeThrough(new CompressionStream("gzip"));
  const body = new Uint8Array(await new Response(stream).arrayBuffer());
  if (body.length > mostBytes) throw tooLarge();
  return { file: body, name: `${name}.gz`, observedAt };
}

function tooLarge(): Failure {
  return new Failure({ kind: "invalid_request", message: t("import.tooLarge"), issues: [], retryAfter: 0, requiredScope: "", grantedScopes: [] });
}

type Props = {
  /** The account has a brief; without one, the page asks for it. */
  briefed: boolean;
  /** Videos were imported. */
  done?: () => void;
};

export function ImportFile({ briefed, done }: Props) {
  const [sent, setSent] = useState<Sent | null>(null);
  const [preview, setPreview] = useState<PreviewImportResponse | null>(null);
  const [map, setMap] = useState<string | undefined>(undefined);
  const [made, setMade] = useState<Import | null>(null);
  const [over, setOver] = useState(false);
  const [topic, setTopic] = useState("");
  const look = useAction(async (next: Sent, columns: string | undefined) => {
    if (!(await allow(researchScopes))) return;
    const answer = await more.imports.previewImport({ ...next, map: columns });
    setPreview(answer);
    announce(t("import.read", { n: answer.report?.read ?? 0 }));
  });
  const choose = useAction(async (file: File) => {
    const next = await read(file);
    setSent(next);
    setMap(undefined);
    setMade(null);
    setPreview(null);
    setTopic(file.name.replace(/\.[a-z]+(\.gz)?$/i, "").replace(/[_-]+/g, " "));
    await look.run(next, undefined);
  });
  const send = useAction(async () => {
    if (!sent) return;
    if (!briefed) await api.workspace.setWorkspace({ description: topic.trim() });
    const answer = await more.imports.createImport({ ...sent, map, idempotencyKey: crypto.randomUUID() });
    setPreview(null);
    setMade(answer.import ?? null);
  });
  const again = (columns: string) => {
    setMap(columns);
    if (sent) void look.run(sent, columns);
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    const file = event.dataTransfer?.files[0];
    if (file) void choose.run(file);
  };
  const close = () => { setPreview(null); setSent(null); setMade(null); };
  const readings = preview?.report?.read ?? 0;
  return (
    <Card title={t("import.title")}>
      {!preview && !made && (
        <label class={over ? "drop over" : "drop"} onDragOver={(event) => { event.preventDefault(); setOver(true); }} onDragLeave={() => setOver(false)} onDrop={drop}>
          <span class="strong">{t("import.drop")}</span>
          <span class="muted">{t("import.dropText")}</span>
          <input type="file" accept=".csv,.tsv,.json,.jsonl,.ndjson,.xlsx,.zip,.gz,.txt,.html,.htm" disabled={choose.busy || look.busy}
            onChange={(event) => { const file = event.currentTarget.files?.[0]; if (file) void choose.run(file); }} />
        </label>
      )}
      {(choose.busy || look.busy) && <p class="muted" role="status">{t("import.reading")}</p>}
      {[choose.problem, look.problem, send.problem].map((problem) => problem && <ProblemView key={problem.message} problem={problem} />)}
      {preview && (
        <>
          <ImportPreview preview={preview} name={sent?.name ?? ""} change={again} busy={look.busy} />
          {!briefed && readings > 0 && (
            <Field label={t("import.topic")} hint={t("import.topicHint")}>
              {(ids) => <Input value={topic} onText={setTopic} required maxLength={2000} {...ids} />}
            </Field>
          )}
          <div class="row">
            {readings > 0 && <Button kind="primary" busy={send.busy} disabled={look.busy || (!briefed && !topic.trim())} onClick={() => void send.run()}>{t("import.do", { n: readings, units: preview.units })}</Button>}
            <Button onClick={close}>{t("import.other")}</Button>
          </div>
        </>
      )}
      {made && <Following first={made} done={done} close={close} />}
    </Card>
  );
}

/** How far an import is, and in the end where its videos are. */
function Following({ first, done, close }: { first: Import; done?: () => void; close: () => void }) {
  const [now, setNow] = useState(first);
  const [problem, setProblem] = useState<Problem | undefined>(undefined);
  const ended = (status: string) => ["completed", "failed", "undone"].includes(status);
  const follow = (from: string) => {
    const stop = new AbortController();
    void (async () => {
      try {
        for (let status = from; !ended(status); ) {
          await sleep(700, stop.signal);
          const answer = await more.imports.getImport({ id: first.id }, { signal: stop.signal });
          if (!answer.import) return;
          setNow(answer.import);
          status = answer.import.status;
        }
        announce(t("import.ended"));
        done?.();
      } catch (error) {
        if (!stop.signal.aborted) setProblem(problemOf(error));
      }
    })();
    return () => stop.abort();
  };
  const [turn, setTurn] = useState(0);
  useEffect(() => follow(turn === 0 ? first.status : "undoing"), [first.id, turn]);
  const undo = useAction(async () => {
    const answer = await more.imports.undoImport({ id: first.id });
    if (answer.import) setNow(answer.import);
    setTurn((n) => n + 1);
  });
  return (
    <div class="stack" role="status">
      {!ended(now.status) && <Progress value={now.percent} label={t("import.progress")} />}
      {now.status === "completed" && <p class="strong">{t("import.completed", { n: now.newVideos, again: number(now.seenAgain), there: number(now.alreadyThere) })}</p>}
      {now.noRoom > 0 && <p>{t("import.noRoom", { n: now.noRoom })}</p>}
      {now.status === "failed" && <p class="problem">{now.failure}</p>}
      {now.status === "undone" && <p>{t("import.undone", { n: now.deletedVideos })}</p>}
      {[problem, undo.problem].map((one) => one && <ProblemView key={one.message} problem={one} />)}
      {ended(now.status) && (
        <div class="row">
          {now.status === "completed" && <><Link class="button primary" href={to("outliers")}>{t("import.outliers")}</Link><Link class="button" href={to("library")}>{t("nav.library")}</Link></>}
          {now.status === "completed" && now.undoUntil !== undefined && <Button kind="quiet" busy={undo.busy} onClick={() => void undo.run()}>{t("import.undo")}</Button>}
          <Button onClick={close}>{t("import.other")}</Button>
        </div>
      )}
    </div>
  );
}
