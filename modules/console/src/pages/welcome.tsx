// The first page without a session: what this is, and the key.
import { useState } from "preact/hooks";
import { codeProblem, signIn } from "../api/signin";
import { accountScopes, readScopes, researchScopes } from "../api/session";
import { t } from "../i18n/t";
import { to } from "../shell/router";
import { KeyForm } from "../ui/keyform";
import { Card, Link, PageHead } from "../ui/parts";

export function Welcome() {
  const [changes, setChanges] = useState(false);
  const scopes = changes ? [...readScopes, ...researchScopes, ...accountScopes] : readScopes;
  return (
    <div class="narrow">
      <PageHead title={t("welcome.title")} lead={t("welcome.lead")} />
      {codeProblem.value && <p class="notice warn" role="alert">{t(codeProblem.value === "used" ? "welcome.codeUsed" : "problem.offline")}</p>}
      <Card title={t("welcome.signIn")}>
        <KeyForm submit={t("welcome.go")} use={(key) => signIn(key, scopes)} choice={
          <label class="choice">
            <input type="checkbox" checked={changes} onChange={(event) => setChanges(event.currentTarget.checked)} />
            <span>{t("welcome.changes")}</span>
          </label>
        } />
        <p class="hint">{t("welcome.forgotten")}</p>
      </Card>
      <p><Link href={to("subscribe")}>{t("welcome.subscribe")}</Link> · <a href="/docs/api">{t("welcome.docs")}</a></p>
    </div>
  );
}
