-- +goose Up
-- What one process charges at once, as a scroll does for its videos, the others see before
-- an account has spent more than is left: they keep its counters for a second otherwise.
-- See admittedRows.
CREATE TRIGGER "access_spent" AFTER INSERT ON "usage_counters" FOR EACH ROW
  WHEN (NEW."units" >= 100) EXECUTE FUNCTION "access_changed"();
CREATE TRIGGER "access_spent_more" AFTER UPDATE ON "usage_counters" FOR EACH ROW
  WHEN (NEW."units" / 100 <> OLD."units" / 100) EXECUTE FUNCTION "access_changed"();
