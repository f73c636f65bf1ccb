// Written by tools/generate_typescript.py; do not edit.

/** Root of all errors of the client; `code` is stable across releases. */
export class EngrainError extends Error {
  readonly code: string;
  /** The HTTP status; undefined where no server answered. */
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  /** The seconds after which to try again; 0 where nothing says so. */
  readonly retryAfterS: number;

  constructor(code: string, message: string, about: ErrorAbout = {}) {
    super(message, about.cause === undefined ? undefined : { cause: about.cause });
    this.name = new.target.name;
    this.code = code;
    this.status = about.status;
    this.requestId = about.requestId;
    this.retryAfterS = about.retryAfterS ?? 0;
  }
}

/** What is known of an error besides its code and message. */
export interface ErrorAbout {
  status?: number;
  requestId?: string;
  retryAfterS?: number;
  cause?: unknown;
}

/** A value was refused before anything was written. */
export class InvalidInput extends EngrainError {}

/** A settings file was found, not named, and sets what only a trusted file may; nothing of it was used. */
export class UntrustedSettings extends InvalidInput {}

/** An import file has no known format, or a broken record with `strict` set. */
export class UnreadableImport extends InvalidInput {}

/** A backup is damaged, of a newer format, or not meant for where it should be restored; nothing was written. */
export class UnusableBackup extends InvalidInput {}

/** A write named a memory that the caller cannot see or that does not exist. */
export class NotFound extends EngrainError {}

/** An item has another version than the write expects; nothing was written: read it again, then write. */
export class VersionConflict extends EngrainError {}

/** A request carried no key, or an invalid one; the message does not say which. */
export class Unauthenticated extends EngrainError {}

/** The caller is known but may not do this. */
export class Forbidden extends EngrainError {}

/** Too many requests with one key, or too many without a key; nothing was done. */
export class RateLimited extends EngrainError {}

/** A call on a Memory, or on an agent of it, after `close()`. */
export class MemoryClosed extends EngrainError {}

/** The address to serve on is taken, no address of this machine, or not allowed to this user. */
export class CannotListen extends EngrainError {}

/** An engine (embedder, LLM, re-ranker) cannot answer; the message names it and what to do. */
export class EngineUnavailable extends EngrainError {}

/** The database refused; the transaction was rolled back. */
export class StorageError extends EngrainError {}

/** The file is not a memory of engrain; it was left as it is. */
export class NotAnEngrainFile extends StorageError {}

/** The database was written by a newer engrain; it was left as it is. */
export class SchemaTooNew extends StorageError {}

/** SQLite found the file to be corrupt. */
export class DatabaseDamaged extends StorageError {}

/** The file, or the folder it lies in, cannot be written. */
export class DatabaseReadOnly extends StorageError {}

/** No room left on the device or in the file's limit; the write was rolled back. */
export class DatabaseFull extends StorageError {}

/** Another writer held the lock for longer than the busy timeout; nothing was written. */
export class DatabaseBusy extends StorageError {}

/** The server cannot be reached, went away and stayed away, or refuses the user, password or database named. */
export class DatabaseUnreachable extends StorageError {}

/** A write broke an invariant that the database holds (a key, a reference, a check); it was rolled back. */
export class IntegrityViolated extends StorageError {}

/** The connection was lost while committing; the write may or may not be there: look before repeating. */
export class OutcomeUnknown extends StorageError {}

/** The classes of errors by their codes. */
export const ERRORS: Record<string, typeof EngrainError> = {
  engrain_error: EngrainError,
  invalid_input: InvalidInput,
  untrusted_settings: UntrustedSettings,
  unreadable_import: UnreadableImport,
  unusable_backup: UnusableBackup,
  not_found: NotFound,
  version_conflict: VersionConflict,
  unauthenticated: Unauthenticated,
  forbidden: Forbidden,
  rate_limited: RateLimited,
  memory_closed: MemoryClosed,
  cannot_listen: CannotListen,
  engine_unavailable: EngineUnavailable,
  storage_error: StorageError,
  not_an_engrain_file: NotAnEngrainFile,
  schema_too_new: SchemaTooNew,
  database_damaged: DatabaseDamaged,
  database_read_only: DatabaseReadOnly,
  database_full: DatabaseFull,
  database_busy: DatabaseBusy,
  database_unreachable: DatabaseUnreachable,
  integrity_violated: IntegrityViolated,
  outcome_unknown: OutcomeUnknown,
};
