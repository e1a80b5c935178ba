// The bundle answers these imports with the English texts of messages.ts: those that the first script has, and those
// that another one brings.
declare module "messages:*" {
  const texts: Record<string, string | { one: string; other: string }>;
  export default texts;
}
