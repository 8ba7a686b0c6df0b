import { describe, expect, it } from 'vitest';
import { requirementTexts } from '../../src/ledger/read-plan.js';

function texts(document: string, ...asked: string[]): object {
  return Object.fromEntries(requirementTexts(document, new Set(asked)));
}

const KIRO = `# Requirements

## Introduction

1. Not a requirement

### Requirement 1: Lexer

**User Story:** As a reader, I want tokens

#### Acceptance Criteria

1. WHEN a line ends THEN the lexer SHALL count it
2. WHEN a token is unknown THEN it SHALL be reported

### Requirement 2

#### Acceptance Criteria

1. IT SHALL parse

## Non-functional

1. Not a criterion of 2
`;

describe('the texts of requirements', () => {
  it('a criterion is found by the number of its requirement and its own', () => {
    expect(texts(KIRO, '1', '1.2', '2.1', '3')).toEqual({
      '1': 'Lexer. As a reader, I want tokens',
      '1.2': 'WHEN a token is unknown THEN it SHALL be reported',
      '2.1': 'IT SHALL parse',
    });
  });

  it('a requirement with an id of letters is found in a list and in a heading', () => {
    const text = '- **FR-001**: System MUST log in\n- **FR-002**: System MUST log out\n### NFR-1: Fast\n';
    expect(texts(text, 'FR-001', 'NFR-1')).toEqual({ 'FR-001': 'System MUST log in', 'NFR-1': 'Fast' });
  });
});
