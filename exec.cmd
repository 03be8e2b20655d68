@rem For npm scripts in a Windows shell, which has no `exec`: runs the rest of the line. POSIX shells have their own,
@rem with which a signal to npm reaches the program and not only a shell in between.
@%*
@exit /b %errorlevel%
