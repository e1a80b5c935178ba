// The entry of the console: it restores the sign-in and shows the shell.
import { effect } from "@preact/signals";
import { render } from "preact";
import { exchangeCode } from "./api/signin";
import { arrived, clients, session } from "./api/session";
import { speak, t } from "./i18n/t";
import { announce } from "./shell/announce";
import { App, preparePage } from "./shell/app";
import { applyPreferences, preferred } from "./shell/preferences";
import { moved, subject, takeCode } from "./shell/router";
import { idle, prepareAll } from "./ui/lazy";

applyPreferences();
const code = takeCode();
if (code) void exchangeCode(code);
const root = document.getElementById("app");
const came = arrived();
if (came) moved.value = true; // as if the person had moved here: the heading takes the focus
effect(() => { subject.value = clients.value.length > 1 ? (session.value?.name ?? "") : ""; });
const show = () => {
  if (root) render(<App />, root);
  if (came) announce(t("clients.now", { name: session.value?.name || t("clients.unnamed") }));
};
// English is the language that needs nothing more.
// The page's own script is waited for a little: the frame alone would flash.
const little = new Promise((done) => setTimeout(done, 300));
void Promise.all([speak(preferred).catch(() => undefined), Promise.race([preparePage(), little])]).then(show).then(idle).then(prepareAll).then(() => import("./plots")).catch(() => undefined);
