// Connecting an agent: the address of the tools, snippets to paste, and what an agent may do.
import { t } from "../i18n/t";
import { to } from "../shell/router";
import { Card, Copy, Link } from "../ui/parts";

export function Agents() {
  const address = `${location.origin}/mcp`;
  const snippets = [
    { title: t("agents.config"), text: JSON.stringify({ mcpServers: { scrollery: { type: "http", url: address, headers: { Authorization: "Bearer KEY" } } } }, null, 2) },
    { title: "Claude Code", text: `claude mcp add --transport http scrollery ${address} --header "Authorization: Bearer KEY"` },
    { title: t("agents.program"), text: JSON.stringify({ mcpServers: { scrollery: { command: "scrollery", args: ["mcp"], env: { SCROLLERY_SERVER: location.origin, SCROLLERY_KEY: "KEY" } } } }, null, 2) },
  ];
  return (
    <>
      <Card title={t("agents.title")}>
        <p>{t("agents.text")}</p>
        <div class="row"><code class="chip">{address}</code><Copy text={address} label={t("agents.copyAddress")} /></div>
        <p>{t("agents.signIn")}</p>
      </Card>
      {snippets.map(({ title, text }) => (
        <Card key={title} title={title} aside={<Copy text={text} />}>
          <pre class="snippet" tabIndex={0} aria-label={title}>{text}</pre>
        </Card>
      ))}
      <Card title={t("agents.may")}>
        <ul class="bullets">
          <li>{t("agents.mayRead")}</li>
          <li>{t("agents.mayChange")}</li>
          <li>{t("agents.mayNot")}</li>
        </ul>
        <div class="row"><Link class="button" href={to("account", "keys")}>{t("agents.key")}</Link><a href="/docs/mcp">{t("agents.docs")}</a></div>
      </Card>
    </>
  );
}
