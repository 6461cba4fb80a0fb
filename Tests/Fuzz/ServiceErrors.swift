// Stands in for the server's table of errors, which would bring gRPC into the fuzzers: what a
// refused credential is told is not fuzzed.

/// The errors that a CredentialRefusal names.
enum ServiceError {
    case credentialsMissing
    case credentialsRefused
    case scopeMissing
}
