// The account: what was used, its keys, its sources, its webhooks and what is shared, a page each. Its script is
// loaded later than the first page.
import "../shell/app"; // what that has is in the first script, so this one has none of it
import texts from "messages:account";
import { learn, t } from "../i18n/t";
import { to } from "../shell/router";
import { Link, PageHead } from "../ui/parts";
import { Agents } from "./account-agents";
import { Keys } from "./account-keys";
import { Shares } from "./account-shares";
import { Sources } from "./account-sources";
import { Usage } from "./account-usage";
import { OneWebhook } from "./account-webhook";
import { Webhooks } from "./account-webhooks";
import type { PageProps } from "./index";

learn(texts);

const parts = ["usage", "keys", "agents", "sources", "webhooks", "shares"] as const;

export function Account({ rest }: PageProps) {
  const part = parts.find((one) => one === rest[0]) ?? "usage";
  return (
    <>
      <PageHead title={t(`account.${part}`)} />
      <nav class="parts" aria-label={t("nav.account")}>
        {parts.map((one) => <Link key={one} href={to("account", one)} aria-current={one === part ? "page" : undefined}>{t(`account.${one}`)}</Link>)}
      </nav>
      {part === "usage" && <Usage />}
      {part === "keys" && <Keys />}
      {part === "agents" && <Agents />}
      {part === "sources" && <Sources />}
      {part === "shares" && <Shares />}
      {part === "webhooks" && (rest[1] ? <OneWebhook key={rest[1]} id={rest[1]} /> : <Webhooks />)}
    </>
  );
}
