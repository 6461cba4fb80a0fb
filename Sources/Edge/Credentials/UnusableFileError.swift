/// Why a file that an operator writes cannot be used, or was not changed.
package struct UnusableFileError: Error, CustomStringConvertible {
    /// What is wrong, where, and what to do; never a part of the file.
    package let description: String
}
