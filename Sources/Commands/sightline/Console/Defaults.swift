/// Defaults that several commands share.
enum Defaults {
    /// The server's data directory, relative to the working directory.
    static let dataDirectory = "./sightline-data"
    /// The address of the gRPC server.
    static let target = "127.0.0.1:50051"
    /// The address of the admin server.
    static let admin = "127.0.0.1:9464"
    /// The address of the HTTP server for development; it is off otherwise.
    static let http = "127.0.0.1:8080"
}
