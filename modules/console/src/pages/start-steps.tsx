// Brief, rules and first scroll. Each step opens when the one before it is done.
import { useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import type { Rules } from "../../gen/scrollery/v1/rules_pb";
import type { Workspace } from "../../gen/scrollery/v1/workspace_pb";
import { allow, api } from "../api/client";
import { useAction } from "../api/query";
import { researchScopes } from "../api/session";
import { t } from "../i18n/t";
import { announce } from "../shell/announce";
import { Input, TextArea } from "../ui/input";
import { Button, Field } from "../ui/parts";
import { ProblemView } from "../ui/states";
import { ScrollForm } from "./scroll-form";

type Props = { workspace: Workspace | undefined; rules: Rules | undefined; done: () => void };

export function Steps({ workspace, rules, done }: Props) {
  const current = !workspace ? 1 : !rules ? 2 : 3;
  const next = (message: string) => {
    announce(message);
    done();
  };
  return (
    <ol class="steps-cards">
      <Step number={1} current={current} title={t("start.brief")} text={t("start.briefText")}><BriefForm done={() => next(t("start.briefDone"))} /></Step>
      <Step number={2} current={current} title={t("start.rules")} text={t("start.rulesText")}><RulesForm done={() => next(t("start.rulesDone"))} /></Step>
      <Step number={3} current={current} title={t("start.scroll")} text={t("start.scrollText")}><ScrollForm first /></Step>
    </ol>
  );
}

function Step({ number, current, title, text, children }: { number: number; current: number; title: string; text: string; children: ComponentChildren }) {
  const state = number < current ? "done" : number === current ? "current" : "later";
  return (
    <li class={`card step ${state}`} aria-current={state === "current" ? "step" : undefined}>
      <div class="step-number" aria-hidden="true">{state === "done" ? "✓" : number}</div>
      <div class="step-body">
        <h2>{title}{state === "done" && <span class="hidden"> ({t("start.done")})</span>}</h2>
        {state !== "done" && <p>{text}</p>}
        {state === "current" && children}
      </div>
    </li>
  );
}

/** One line an entry, without empty ones. */
function linesOf(text: string): string[] {
  return text.split("\n").map((line) => line.trim()).filter(Boolean);
}

function BriefForm({ done }: { done: () => void }) {
  const [brief, setBrief] = useState({ name: "", description: "", website: "", competitors: "" });
  const save = useAction(async () => {
    if (!(await allow(researchScopes))) return;
    await api.workspace.setWorkspace({
      name: brief.name.trim() || undefined,
      description: brief.description.trim() || undefined,
      website: brief.website.trim() || undefined,
      competitors: linesOf(brief.competitors),
    });
    done();
  });
  const edit = (name: keyof typeof brief) => (text: string) => setBrief((before) => ({ ...before, [name]: text }));
  return (
    <form onSubmit={(event) => { event.preventDefault(); void save.run(); }}>
      <Field label={t("brief.name")}>{(ids) => <Input value={brief.name} onText={edit("name")} maxLength={200} {...ids} />}</Field>
      <Field label={t("brief.description")} hint={t("brief.descriptionHint")}>{(ids) => <TextArea rows={4} required value={brief.description} onText={edit("description")} maxLength={20000} {...ids} />}</Field>
      <Field label={t("brief.website")} hint={t("brief.websiteHint")}>{(ids) => <Input value={brief.website} onText={edit("website")} inputMode="url" placeholder="https://" maxLength={2048} {...ids} />}</Field>
      <Field label={t("brief.competitors")} hint={t("brief.competitorsHint")}>{(ids) => <TextArea rows={3} value={brief.competitors} onText={edit("competitors")} {...ids} />}</Field>
      {save.problem && <ProblemView problem={save.problem} />}
      <Button type="submit" kind="primary" busy={save.busy}>{t("brief.save")}</Button>
    </form>
  );
}

function RulesForm({ done }: { done: () => void }) {
  const [text, setText] = useState("");
  const save = useAction(async () => {
    if (!(await allow(researchScopes))) return;
    await api.rules.putRules({ text });
    done();
  });
  return (
    <form onSubmit={(event) => { event.preventDefault(); void save.run(); }}>
      <Field label={t("rules.text")} hint={t("rules.hint")}>
        {(ids) => <TextArea rows={5} required value={text} onText={setText} maxLength={20000} placeholder={t("rules.example")} {...ids} />}
      </Field>
      {save.problem && <ProblemView problem={save.problem} />}
      <Button type="submit" kind="primary" busy={save.busy}>{t("rules.save")}</Button>
    </form>
  );
}
