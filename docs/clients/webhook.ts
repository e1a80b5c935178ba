// Verifies a delivery by the library of the Standard Webhooks specification.
import { Webhook } from "standardwebhooks";

export function changeOf(secret: string, body: string, headers: Record<string, string>): { type: string; data: { id: string } } {
  const change = new Webhook(secret).verify(body, headers);
  return change as { type: string; data: { id: string } };
}
