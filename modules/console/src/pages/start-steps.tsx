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
import { TextArea } from "../ui/input";
import { Button, Field } from "../ui/parts";
import { ProblemView } from "../ui/states";
import { BriefForm } from "./brief";
import { usePreview } from "./rules";
import { Readings } from "./rules-preview";
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
      <Step number={1} current={current} title={t("start.brief")} text={t("start.briefText")}><BriefForm done={next} /></Step>
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

function RulesForm({ done }: { done: () => void }) {
  const [text, setText] = useState("");
  const preview = usePreview(text);
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
      {text.trim() !== "" && <Readings text={text} answer={preview.answer} fresh={!preview.busy && preview.text === text} />}
      {save.problem && <ProblemView problem={save.problem} />}
      <Button type="submit" kind="primary" busy={save.busy}>{t("rules.save")}</Button>
    </form>
  );
}
