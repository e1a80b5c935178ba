-- +goose Up
-- What admission remembers of an account: all processes are told of its changes when they
-- are committed, and the process that makes them by a message of the statement, so that
-- it can forget before it answers. See modules/kernel/store/access.
-- +goose StatementBegin
CREATE FUNCTION "access_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE account bigint;
BEGIN
  FOREACH account IN ARRAY CASE TG_OP
    WHEN 'INSERT' THEN ARRAY[NEW."account_id"]
    WHEN 'DELETE' THEN ARRAY[OLD."account_id"]
    ELSE ARRAY[OLD."account_id", NEW."account_id"] END
  LOOP
    PERFORM pg_notify('scrollery_access', account::text);
    RAISE INFO USING MESSAGE = 'scrollery_access', DETAIL = account::text;
  END LOOP;
  RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER "access_changed" AFTER INSERT OR UPDATE OR DELETE ON "keys" FOR EACH ROW EXECUTE FUNCTION "access_changed"();
CREATE TRIGGER "access_changed" AFTER INSERT OR UPDATE OR DELETE ON "subscriptions" FOR EACH ROW EXECUTE FUNCTION "access_changed"();
CREATE TRIGGER "access_changed" AFTER INSERT OR UPDATE OR DELETE ON "workspaces" FOR EACH ROW EXECUTE FUNCTION "access_changed"();
