// Rules: an editor with the reading of each line beside it, what would change, and versions.
import { useEffect, useRef, useState } from "preact/hooks";
import type { GetRulesResponse, PreviewRulesResponse } from "../../gen/scrollery/v1/rules_service_pb";
import { allow, api } from "../api/client";
import { problemOf, type Problem } from "../api/problem";
import { useAction, useQuery } from "../api/query";
import { draftKey, researchScopes } from "../api/session";
import { t } from "../i18n/t";
import { announce } from "../shell/announce";
import { language } from "../shell/preferences";
import { Dialog } from "../ui/dialog";
import { TextArea } from "../ui/input";
import { Button, Card, Field, PageHead } from "../ui/parts";
import { ProblemView, Show } from "../ui/states";
import { Effect, Readings } from "./rules-preview";
import { Versions } from "./rules-versions";

/** A preview judges stored videos and costs ten units: it waits until the typing stops. */
const pause = 900;
const sample = 500;

export function RulesPage() {
  const rules = useQuery((signal) => api.rules.getRules({}, { signal }), []);
  return (
    <>
      <PageHead title={t("nav.rules")} lead={t("rules.lead")} />
      <Show of={rules} lines={6}>{(current) => <Editor key={current.rules?.workspaceId ?? ""} current={current} saved={rules.reload} />}</Show>
    </>
  );
}

/** What was typed and is not saved stays in this browser tab, also when it is loaded again. */
function useDraft(workspace: string, saved: string): [string, (text: string) => void] {
  const name = draftKey(`rules.${workspace}`);
  const [text, setText] = useState(() => sessionStorage.getItem(name) ?? saved);
  return [text, (next) => {
    setText(next);
    if (next === saved) sessionStorage.removeItem(name);
    else sessionStorage.setItem(name, next);
  }];
}

type Preview = { text: string; answer?: PreviewRulesResponse; problem?: Problem; busy: boolean };

/** Judges the text a moment after it changed. The last answer stays while the next is read. */
export function usePreview(text: string): Preview & { again: () => void } {
  const [state, setState] = useState<Preview>({ text: "", busy: false });
  const [turn, setTurn] = useState(0);
  const first = useRef(true);
  useEffect(() => {
    const stop = new AbortController();
    if (!text.trim()) {
      setState({ text, busy: false });
      return;
    }
    const timer = setTimeout(async () => {
      setState((before) => ({ ...before, problem: undefined, busy: true }));
      try {
        const answer = await api.rules.previewRules({ text, sample, language: language.value }, { signal: stop.signal });
        if (!stop.signal.aborted) setState({ text, answer, busy: false });
      } catch (error) {
        if (!stop.signal.aborted) setState((before) => ({ ...before, problem: problemOf(error), busy: false }));
      }
    }, first.current ? 0 : pause);
    first.current = false;
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text, turn, language.value]);
  return { ...state, again: () => setTurn(turn + 1) };
}

function Editor({ current, saved }: { current: GetRulesResponse; saved: () => void }) {
  const now = current.rules?.text ?? "";
  const [text, setText] = useDraft(current.rules?.workspaceId ?? "", now);
  const preview = usePreview(text);
  const changed = text !== now;
  const save = useAction(async () => {
    if (!(await allow(researchScopes))) return;
    const { rules } = await api.rules.putRules({ text });
    sessionStorage.removeItem(draftKey(`rules.${rules?.workspaceId ?? ""}`));
    announce(t("rules.saved"));
    saved();
  });
  const fresh = preview.answer !== undefined && !preview.busy && preview.text === text ? preview.answer : undefined;
  const [asking, setAsking] = useState(false);
  const ask = () => {
    if (fresh && fresh.dropped * 2 > fresh.judged) setAsking(true);
    else void save.run();
  };
  const rows = Math.max(8, Math.min(24, text.split("\n").length + 2));
  return (
    <>
      <form class="rules" onSubmit={(event) => { event.preventDefault(); ask(); }}>
        <Card title={t("rules.text")}>
          <Field label={t("rules.text")} hint={t("rules.hint")}>
            {(ids) => <TextArea class="editor" rows={rows} required maxLength={20000} spellcheck value={text} placeholder={t("rules.example")} onText={setText} {...ids} />}
          </Field>
          {save.problem && <ProblemView problem={save.problem} />}
          <div class="row">
            <Button type="submit" kind="primary" busy={save.busy} disabled={!changed || !text.trim()}>{t("rules.save")}</Button>
            {changed && now && <Button kind="quiet" onClick={() => setText(now)}>{t("rules.discard")}</Button>}
            <span class="muted" role="status">{preview.busy ? t("rules.judging") : changed ? t("rules.unsaved") : current.rules ? t("rules.current", { n: current.rules.version }) : ""}</span>
          </div>
        </Card>
        <Card title={t("rules.reading")}>
          {preview.problem && <ProblemView problem={preview.problem} retry={preview.again} />}
          <Readings text={text} answer={preview.answer} fresh={!preview.busy && preview.text === text} />
        </Card>
      </form>
      {asking && fresh && (
        <Dialog title={t("rules.half")} onClose={() => setAsking(false)}>
          <p>{t("rules.halfText", { n: fresh.dropped, of: fresh.judged })}</p>
          <div class="row">
            <Button kind="danger" busy={save.busy} onClick={() => { setAsking(false); void save.run(); }}>{t("rules.halfSave")}</Button>
            <Button kind="quiet" onClick={() => setAsking(false)}>{t("state.cancel")}</Button>
          </div>
        </Dialog>
      )}
      {preview.answer && <Effect answer={preview.answer} />}
      {current.rules && <Versions current={current.rules} use={setText} />}
    </>
  );
}
