"""A LaTeX source with a Stan script in it, like the paper's."""

LATEX = r"""
\section*{Supp 1: Something else}
\begin{verbatim}
not this one
\end{verbatim}
\section*{Supp 2: Stan script}
Some words.
\begin{verbatim}

parameters { real y; } // 100 % ours
model { y ~ normal(0, 1); }
generated quantities {
  real z = y;
}
%\end{lstlisting}
\end{verbatim}
\section*{Supp 3: More}
\begin{verbatim}
nor this one
\end{verbatim}
"""
SAMPLED = "parameters { real y; } // 100 % ours\nmodel { y ~ normal(0, 1); }\n"
SCRIPT = SAMPLED + "generated quantities {\n  real z = y;\n}\n"
